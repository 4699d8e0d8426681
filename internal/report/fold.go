package report

import "github.com/natsmig/natsmig/audit"

// A group is entries that are folded into one line.
type group struct {
	shared
	names []string
}

// shared is what the members of a group have in common.
type shared struct {
	noun string // durable or stream
	cell string // empty where there is one cell only
	what string // why they are quiet
}

func (g *group) title() string {
	title := count(len(g.names), g.noun)
	if g.cell != "" {
		title += " in " + g.cell
	}
	return title + ": " + g.what
}

// A folding collects groups, in the order in which they first occur.
type folding struct {
	groups []group
	at     map[shared]int
}

func (f *folding) add(key shared, name string) {
	i, ok := f.at[key]
	if !ok {
		if f.at == nil {
			f.at = map[shared]int{}
		}
		i = len(f.groups)
		f.at[key] = i
		f.groups = append(f.groups, group{shared: key})
	}
	f.groups[i].names = append(f.groups[i].names, name)
}

// sharedBy is what a stream, or a consumer of that name, shares with others. The
// cell counts where there are several.
func sharedBy(consumer, cell string, several bool, what string) shared {
	key := shared{noun: "durable", what: what}
	if consumer == "" {
		key.noun = "stream"
	}
	if several {
		key.cell = cell
	}
	return key
}

// fold groups quiet entries.
func fold(quiet []*audit.Entry, several bool) []group {
	var f folding
	for _, e := range quiet {
		what := "nothing would change"
		if !declared(e) {
			what = "not declared"
		}
		f.add(sharedBy(e.Consumer, e.Cell, several, what), e.Name())
	}
	return f.groups
}
