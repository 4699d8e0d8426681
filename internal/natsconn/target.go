package natsconn

import (
	"fmt"
	"strings"
	"time"
)

// Target is one cell that can be connected to, from [Resolve]. Its fields can be
// shown; its secrets are kept aside and are not part of any text.
type Target struct {
	// Name is the cell's name: the context's, or host:port of the first server.
	Name string
	// ContextFile is the path of the context, empty without one.
	ContextFile string
	// Servers are the URLs, without user information. With the deprecated field
	// nsc they are known only after connecting, and this is empty.
	Servers []string
	// Auth is which credentials are used: user, creds, nkey, jwt, token or none.
	Auth string
	// Ignored are settings of the context, by their keys there, or flags, that are
	// there and not used: credentials of a kind that lost, or half a certificate.
	Ignored []string
	// Domain is the JetStream domain, empty without one.
	Domain string
	// APIPrefix is where the JetStream API is, without a final dot: "$JS.API",
	// "$JS.hub.API".
	APIPrefix string
	// EventPrefix is where JetStream's advisories are; empty means "$JS.EVENT".
	EventPrefix string
	// InboxPrefix is where replies go; empty means "_INBOX".
	InboxPrefix string
	// Timeout bounds connecting, and is meant for each request.
	Timeout time.Duration

	// A function, because fmt shows what a pointer points to where the verb is %s
	// and the Target is in an unexported field.
	dial func() dialing
}

// dialing is what Connect needs and nobody may see.
type dialing struct {
	settings settings
	resolver resolver
}

func newTarget(name string, src source, s settings, r resolver, servers []serverURL, prefix string, c Config) Target {
	t := Target{
		Name: name, ContextFile: src.path, Auth: s.authKind(), Ignored: s.ignored(),
		Domain: s.jsDomain, APIPrefix: prefix, EventPrefix: strings.TrimSuffix(s.jsEventPrefix, "."),
		InboxPrefix: s.inboxPrefix, Timeout: c.Timeout,
		dial: func() dialing { return dialing{settings: s, resolver: r} },
	}
	if s.url != "" || s.nsc == "" {
		t.Servers = shown(servers)
	}
	return t
}

// String gives the name and the servers, without user information.
func (t Target) String() string {
	return fmt.Sprintf("cell %q at %s", t.Name, strings.Join(t.Servers, ", "))
}

// GoString is String, for %#v.
func (t Target) GoString() string { return t.String() }
