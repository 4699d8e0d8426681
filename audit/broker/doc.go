// Package broker is the model of what a nats-server stores and refuses.
package broker
