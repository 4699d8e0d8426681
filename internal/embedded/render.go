package embedded

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ports are the ports of one broker: -1 lets the operating system choose,
// zero means that nothing listens.
type ports struct {
	client, cluster, gateway, leaf int
}

// configText accumulates a server configuration file.
type configText struct {
	strings.Builder
}

func (t *configText) line(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// render returns the configuration file of a broker. Both kinds of broker read
// this text, so that there is one place where an option can be forgotten.
func render(c Config, dir layout, p ports, sys User) string {
	t := &configText{}
	t.line("server_name: %s", quote(c.Name))
	t.line("host: 127.0.0.1\nport: %d", p.client)
	t.line("ports_file_dir: %s", quote(dir.ports()))
	if c.Logger != nil && c.Logger.Enabled(context.Background(), levelDebug) {
		t.line("debug: true")
	}
	if len(c.Tags) > 0 {
		t.line("server_tags: %s", list(c.Tags))
	}
	t.jetStream(c, dir)
	t.accounts(c, sys)
	t.topology(c, p)
	t.line("%s", c.Extra)
	return t.String()
}

func (t *configText) jetStream(c Config, dir layout) {
	if c.NoJetStream {
		return
	}
	t.line("jetstream {\n  store_dir: %s", quote(dir.store))
	if c.Domain != "" {
		t.line("  domain: %s", quote(c.Domain))
	}
	t.size("max_memory_store", c.MaxMemory)
	t.size("max_file_store", c.MaxStore)
	t.serverLimits(c.ServerLimits)
	t.line("}")
}

func (t *configText) serverLimits(l ServerLimits) {
	if l == (ServerLimits{}) {
		return
	}
	t.line("  limits {")
	t.size("max_ack_pending", int64(l.MaxAckPending))
	t.size("max_request_batch", int64(l.MaxRequestBatch))
	if l.DuplicateWindow != 0 {
		t.line("  duplicate_window: %s", quote(l.DuplicateWindow.String()))
	}
	t.line("  }")
}

func (t *configText) topology(c Config, p ports) {
	if c.Cluster.Name != "" {
		t.line("cluster {\n  name: %s\n  host: 127.0.0.1\n  port: %d\n  routes: %s\n}",
			quote(c.Cluster.Name), p.cluster, list(c.Cluster.Routes))
	}
	if c.Gateway.Name != "" {
		t.line("gateway {\n  name: %s\n  host: 127.0.0.1\n  port: %d\n  gateways: [", quote(c.Gateway.Name), p.gateway)
		for _, name := range slices.Sorted(maps.Keys(c.Gateway.Remotes)) {
			t.line("    {name: %s, urls: %s}", quote(name), list(c.Gateway.Remotes[name]))
		}
		t.line("  ]\n}")
	}
	t.leaf(c.Leaf, p)
}

func (t *configText) leaf(o LeafOptions, p ports) {
	if !o.Listen && len(o.Remotes) == 0 {
		return
	}
	t.line("leafnodes {\n  reconnect: 1")
	if o.Listen {
		t.line("  host: 127.0.0.1\n  port: %d", p.leaf)
	}
	t.line("  remotes: [")
	for _, r := range o.Remotes {
		t.line("    {urls: %s", list(r.withCredentials()))
		if r.Account != "" {
			t.line("     account: %s", quote(r.Account))
		}
		t.line("    }")
	}
	t.line("  ]\n}")
}

func (r LeafRemote) withCredentials() []string {
	if r.User == "" {
		return r.URLs
	}
	var out []string
	for _, raw := range r.URLs {
		u, err := url.Parse(raw)
		if err != nil {
			out = append(out, raw) // the server says what is wrong with it
			continue
		}
		u.User = url.UserPassword(r.User, r.Password)
		out = append(out, u.String())
	}
	return out
}

// size writes a limit in bytes, and nothing for zero.
func (t *configText) size(name string, n int64) {
	if n != 0 {
		t.line("  %s: %d", name, n)
	}
}

func list(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = quote(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func quote(s string) string {
	return strconv.Quote(s)
}
