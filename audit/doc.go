// Package audit says what a broker would do with what a team is about to send it.
package audit
