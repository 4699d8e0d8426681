package natsconn

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"
)

// serverURL is one server's URL: raw as given, user information included, and
// what may be shown.
type serverURL struct {
	raw, shown, host string
	websocket        bool
}

// parseServers reads a comma list of URLs; an empty one is nats.DefaultURL. The
// text of a URL that cannot be read is not shown: a password with a "/" or ":" in
// it is where URLs break.
func parseServers(list string) ([]serverURL, []error) {
	var servers []serverURL
	var errs []error
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		s, err := parseServer(part)
		if err != nil {
			errs = append(errs, fmt.Errorf("server %d: %w", len(servers)+len(errs)+1, err))
			continue
		}
		servers = append(servers, s)
	}
	if len(servers) == 0 && len(errs) == 0 {
		return parseServers(nats.DefaultURL)
	}
	if mixed(servers) {
		errs = append(errs, errors.New("servers: websocket URLs (ws, wss) and others do not mix"))
	}
	return servers, errs
}

func parseServer(raw string) (serverURL, error) {
	if !strings.Contains(raw, "://") {
		raw = "nats://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return serverURL{}, errors.New("it is not a URL such as nats://host:4222 (it is not shown, for it may hold a password)")
	}
	host := u.Host
	if u.Port() == "" {
		host = strings.TrimSuffix(host, ":") + ":" + defaultPort(u.Scheme)
	}
	return serverURL{
		raw: raw, host: host, shown: u.Scheme + "://" + host,
		websocket: u.Scheme == "ws" || u.Scheme == "wss",
	}, nil
}

func defaultPort(scheme string) string {
	switch scheme {
	case "ws":
		return "80"
	case "wss":
		return "443"
	}
	return "4222"
}

func mixed(servers []serverURL) bool {
	for _, s := range servers {
		if s.websocket != servers[0].websocket {
			return true
		}
	}
	return false
}

// shown gives the URLs without user information.
func shown(servers []serverURL) []string {
	var list []string
	for _, s := range servers {
		list = append(list, s.shown)
	}
	return list
}

// urlSecrets gives the passwords and tokens of the URLs.
func urlSecrets(servers []serverURL) []string {
	var list []string
	for _, s := range servers {
		u, err := url.Parse(s.raw)
		if err != nil || u.User == nil {
			continue
		}
		password, found := u.User.Password()
		if !found {
			password = u.User.Username()
		}
		list = append(list, password)
	}
	return list
}
