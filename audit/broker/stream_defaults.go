package broker

import (
	"slices"
	"time"
)

// DefaultDuplicateWindow is the duplicate window of a stream that declares none
// (stream.go:1935 of 2.15.3).
const DefaultDuplicateWindow = 2 * time.Minute

// setStreamDefaults fills what c leaves out, in the server's order (stream.go
// checkStreamCfgLocked of 2.15.3).
func (b Broker) setStreamDefaults(c *StreamConfig, peers []*StreamConfig) {
	c.fill()
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	unlimited(&c.MaxMsgs)
	unlimited(&c.MaxMsgsPer)
	unlimited(&c.MaxBytes)
	unlimited(&c.MaxMsgSize)
	unlimited(&c.MaxConsumers)
	if c.Duplicates == 0 && c.Mirror == nil && (len(c.Sources) == 0 || !b.Version.AtLeast(10)) {
		c.Duplicates = b.defaultDuplicates(c.MaxAge)
	}
	if c.SubjectDeleteMarkerTTL > 0 {
		c.AllowMsgTTL = true
	}
	if (c.SubjectDeleteMarkerTTL > 0 || c.AllowMsgSchedules) && !c.AllowRollup {
		c.AllowRollup, c.DenyPurge = true, false
	}
	if c.Mirror != nil && c.Mirror.External == nil {
		if i := slices.IndexFunc(peers, func(p *StreamConfig) bool { return p.Name == c.Mirror.Name }); i >= 0 {
			c.MirrorDirect = peers[i].AllowDirect
		}
	}
	if len(c.Subjects) == 0 && c.Mirror == nil && len(c.Sources) == 0 {
		c.Subjects = []string{c.Name}
	}
	if c.Republish != nil && c.Republish.Source == "" {
		r := *c.Republish
		r.Source = ">"
		c.Republish = &r
	}
	if p := c.Placement; p != nil && p.Cluster == "" && len(p.Tags) == 0 && p.Preferred == "" {
		c.Placement = nil
	}
}

func unlimited[T int | int32 | int64](limit *T) {
	if *limit == 0 || *limit < -1 {
		*limit = -1
	}
}

func (b Broker) defaultDuplicates(maxAge time.Duration) time.Duration {
	window := DefaultDuplicateWindow
	if b.Limits.DuplicateWindow > 0 {
		window = min(window, b.Limits.DuplicateWindow)
	}
	if maxAge > 0 {
		window = min(window, maxAge)
	}
	return window
}

// seal is what sealing a stream changes by itself.
func (c *StreamConfig) seal() {
	if c.Sealed {
		c.MaxAge, c.Discard = 0, DiscardNew
		c.DenyDelete, c.DenyPurge, c.AllowRollup = true, true, false
	}
}
