package audit

import (
	"encoding/json"
	"fmt"
)

// FromLive declares what a snapshot says is live: streams and consumers, as
// their configs stand.
func FromLive(s *Snapshot) ([]*Declaration, error) {
	var all []*Declaration
	for _, c := range s.Cells {
		var target Target
		if len(s.Cells) > 1 {
			target.Cell = c.Name
		}
		for i := range c.Streams {
			ds, err := fromStream(&c.Streams[i], target)
			if err != nil {
				return nil, fmt.Errorf("cell %q: %w", c.Name, err)
			}
			all = append(all, ds...)
		}
	}
	return all, nil
}

func fromStream(s *Stream, t Target) ([]*Declaration, error) {
	var all []*Declaration
	if len(s.Config) > 0 {
		d, err := DeclareStream(s.Config)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	for _, c := range s.Consumers {
		var info struct {
			Config json.RawMessage `json:"config"`
		}
		if err := json.Unmarshal(c.raw, &info); err != nil || len(info.Config) == 0 {
			return nil, fmt.Errorf("stream %q: a consumer without a config", s.Name())
		}
		d, err := DeclareConsumer(s.Name(), info.Config)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	for _, d := range all {
		d.Origin, d.Target = FromSnapshot, t
	}
	return all, nil
}
