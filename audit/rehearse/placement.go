package rehearse

import (
	"encoding/json"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

const placement = "placement"

// withoutPlacement says that an entry is asked without it.
const withoutPlacement = "rehearsed without its placement, which no server here satisfies"

// unplaced are the declarations without placements, so that model and broker are
// asked the same; and those of them that had one.
func unplaced(ds []*audit.Declaration) (all []*audit.Declaration, had map[*audit.Declaration]bool) {
	had = map[*audit.Declaration]bool{}
	for _, d := range ds {
		if d.Consumer == "" && d.StreamRequest.Config.Placement != nil {
			d = unplace(d)
			had[d] = true
		}
		all = append(all, d)
	}
	return all, had
}

func unplace(d *audit.Declaration) *audit.Declaration {
	bare, req := *d, *d.StreamRequest
	bare.StreamRequest = &req
	req.Config.Placement = nil
	if i, ok := broker.StreamFieldIndex(placement); ok {
		req.Fields &^= 1 << i
		bare.Declared &^= 1 << i
		bare.Always &^= 1 << i
	}
	var read map[string]json.RawMessage
	if json.Unmarshal(req.Raw, &read) != nil {
		return &bare // there is no raw text: the config is all
	}
	for name := range read {
		if strings.EqualFold(name, placement) {
			delete(read, name)
		}
	}
	if text, err := json.Marshal(read); err == nil {
		req.Raw = text
	}
	return &bare
}
