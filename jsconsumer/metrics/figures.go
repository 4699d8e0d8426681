package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/natsmig/natsmig/jsconsumer"
)

// A figure is one number of a Status.
type figure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(jsconsumer.Status) float64
}

func gauge(name, help string, value func(jsconsumer.Status) float64) figure {
	return figure{prometheus.NewDesc(prefix+name, help, labels(), nil), prometheus.GaugeValue, value}
}

func count(name, help string, value func(jsconsumer.Counts) uint64) figure {
	return figure{
		prometheus.NewDesc(prefix+name, help, labels(), nil), prometheus.CounterValue,
		func(s jsconsumer.Status) float64 { return float64(value(s.Counts)) },
	}
}

// figures are all numbers of a Status that are shown.
func figures() []figure {
	type (
		status = jsconsumer.Status
		counts = jsconsumer.Counts
	)
	return []figure{
		gauge("ready", "1 if the consumer is bound and can be counted on.",
			func(s status) float64 { return is(s.Readiness.Ready) }),
		gauge("failing_since_timestamp_seconds", "When the failure that lasts began, 0 if there is none.", failingSince),
		gauge("workers", "Messages that are handled at a time at most.",
			func(s status) float64 { return float64(s.Workers) }),
		gauge("working", "Messages that are held: with a handler, waiting for their key, or being captured.",
			func(s status) float64 { return float64(s.Working) }),
		gauge("free", "Workers that hold no message.",
			func(s status) float64 { return float64(s.Workers - s.Working) }),
		gauge("asked", "Messages that were asked for and have not come.",
			func(s status) float64 { return float64(s.Asked) }),
		gauge("ack_pending", "num_ack_pending when the consumer was last looked at.",
			func(s status) float64 { return float64(s.Floor.AckPending) }),
		gauge("ack_floor", "Stream sequence of the ack floor when the consumer was last looked at.",
			func(s status) float64 { return float64(s.Floor.Sequence) }),
		gauge("floor_pinned", "1 if few messages hold the ack floor while others are delivered.",
			func(s status) float64 { return is(s.FloorPinned) }),
		count("delivered_total", "Messages that arrived, redeliveries included.",
			func(c counts) uint64 { return c.Delivered }),
		count("given_up_total", "Messages whose last attempt failed.",
			func(c counts) uint64 { return c.GivenUp }),
		count("stale_total", "Decisions that were not sent, because the consumer had been replaced.",
			func(c counts) uint64 { return c.Stale }),
		count("pulls_total", "Requests for messages.", func(c counts) uint64 { return c.Pulls }),
		count("set_ups_total", "Attempts to bind the consumer.", func(c counts) uint64 { return c.SetUps }),
	}
}

func failingSince(s jsconsumer.Status) float64 {
	if s.Readiness.FailingSince == nil {
		return 0
	}
	return float64(s.Readiness.FailingSince.UnixMilli()) / 1000
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
