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

// fold groups quiet entries, in the order in which the groups first occur.
func fold(quiet []*audit.Entry, several bool) []group {
	var groups []group
	at := map[shared]int{}
	for _, e := range quiet {
		key := sharedBy(e, several)
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, group{shared: key})
		}
		groups[i].names = append(groups[i].names, e.Name())
	}
	return groups
}

func sharedBy(e *audit.Entry, several bool) shared {
	key := shared{noun: "durable", what: "nothing would change"}
	if e.Consumer == "" {
		key.noun = "stream"
	}
	if several {
		key.cell = e.Cell
	}
	if !declared(e) {
		key.what = "not declared"
	}
	return key
}
