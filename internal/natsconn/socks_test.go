package natsconn

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

func TestSocksProxy(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{})
	w := newWorld(t)
	open, seen := socksProxy(t, "", "", 0)
	w.mustConnect(Config{Servers: broker.ClientURL(), SocksProxy: "socks5://" + open})
	if got := <-seen; got != broker.Addr().String() {
		t.Errorf("the proxy was asked for %s, want %s", got, broker.Addr())
	}
	closed, seen := socksProxy(t, "u", "p", 0)
	w.context("c", `{"url": "`+broker.ClientURL()+`", "socks_proxy": "socks5h://u:p@`+closed+`"}`)
	w.mustConnect(Config{Contexts: []string{"c"}})
	if got := <-seen; got != broker.Addr().String() {
		t.Errorf("the proxy was asked for %s, want %s", got, broker.Addr())
	}
	w.mustConnect(Config{Contexts: []string{"c"}, SocksProxy: "none"})
	refusing, _ := socksProxy(t, "", "", 5)
	for proxy, want := range map[string]string{
		"socks5://u:CANARY@" + closed:                                "it refused the user and password",
		"socks5://" + closed:                                         "it does not offer the way to log in",
		"socks5://" + refusing:                                       "it did not reach the server (reply 5)",
		"socks5://u:CANARY@" + closedPort(t):                         "reach the SOCKS proxy",
		"socks5://" + strings.Repeat("u", 256) + ":CANARY@" + closed: "longer than 255 bytes",
	} {
		_, err := w.connect(Config{Servers: broker.ClientURL(), SocksProxy: proxy})
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), want) {
			t.Errorf("a proxy gave %v, want ErrUnreachable: %s", err, want)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the error shows the proxy's password: %v", err)
		}
	}
	silent, _ := silentPort(t)
	if _, err := w.connect(Config{Servers: broker.ClientURL(), SocksProxy: "socks5://" + silent, Timeout: shortly}); !errors.Is(err, ErrTimeout) {
		t.Errorf("a silent proxy gave %v, want ErrTimeout", err)
	}
	for _, proxy := range []string{"http://h:1", "h:1", "socks5://", "socks5://u:CANARY@h:x"} {
		if _, err := w.resolve(Config{SocksProxy: proxy}); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("proxy %s gave %v, want an error", proxy, err)
		}
	}
	if u, err := parseProxy("socks5://h"); err != nil || u.Host != "h:1080" {
		t.Errorf("the proxy without a port is %v, %v, want h:1080", u, err)
	}
}

// socksProxy starts a SOCKS5 proxy that asks for a user if one is given, and
// answers each request with reply. The channel tells what it was asked for.
func socksProxy(t *testing.T, user, password string, reply byte) (string, <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	seen := make(chan string, 16)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if address := socksServe(conn, user, password, reply); address != "" {
					seen <- address
					forward(conn, address)
				}
			}()
		}
	}()
	return l.Addr().String(), seen
}

// socksServe gives the address that the client asks for, empty if it gets none.
func socksServe(conn net.Conn, user, password string, reply byte) string {
	greeting, _ := ask(conn, nil, 3)
	method := byte(0)
	if user != "" {
		method = 2
	}
	if greeting[2] != method {
		_, _ = conn.Write([]byte{5, 255})
		return ""
	}
	_, _ = conn.Write([]byte{5, method})
	if user != "" {
		name := field(conn, 1)
		if pass := field(conn, 0); name != user || pass != password {
			_, _ = conn.Write([]byte{1, 1})
			return ""
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	host := field(conn, 4)
	port, err := ask(conn, nil, 2)
	// The bound address is a name, which the client has to skip.
	_, _ = conn.Write([]byte{5, reply, 0, 3, 2, 'h', 'i', 0, 0})
	if err != nil || reply != 0 {
		return ""
	}
	addr := net.TCPAddr{IP: net.ParseIP(host), Port: int(port[0])<<8 | int(port[1])}
	return addr.String()
}

// field skips bytes and reads a text that follows its length.
func field(conn net.Conn, skip int) string {
	head, err := ask(conn, nil, skip+1)
	if err != nil {
		return ""
	}
	text, _ := ask(conn, nil, int(head[skip]))
	return string(text)
}

func forward(conn net.Conn, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, conn) }()
	_, _ = io.Copy(conn, server)
}
