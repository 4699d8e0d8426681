// Package delivery measures how fast one durable's messages are handled and
// acknowledged, by jsconsumer and by its peers in turns within one run. It has
// benchmarks alone; `make bench` runs them.
package delivery
