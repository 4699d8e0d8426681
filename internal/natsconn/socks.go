package natsconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
)

// parseProxy reads the URL of a SOCKS5 proxy. The error does not show it.
func parseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || (u.Scheme != "socks5" && u.Scheme != "socks5h") {
		return nil, errors.New("SOCKS proxy: it is not a URL such as socks5://host:1080")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "1080")
	}
	return u, nil
}

// dialSocks connects to address through a SOCKS5 proxy (RFC 1928 and 1929), which
// looks up the host's name.
func dialSocks(ctx context.Context, proxy *url.URL, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy.Host)
	if err != nil {
		return nil, fmt.Errorf("reach the SOCKS proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = socksHandshake(conn, proxy.User, address)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect through the SOCKS proxy: %w", err)
	}
	return conn, nil
}

func socksHandshake(conn io.ReadWriter, user *url.Userinfo, address string) error {
	method := byte(0)
	if user != nil {
		method = 2
	}
	chosen, err := ask(conn, []byte{5, 1, method}, 2)
	if err != nil {
		return err
	}
	if !bytes.Equal(chosen, []byte{5, method}) {
		return errors.New("it does not offer the way to log in")
	}
	if user != nil {
		if err := socksLogin(conn, user); err != nil {
			return err
		}
	}
	return socksConnect(conn, address)
}

func socksLogin(conn io.ReadWriter, user *url.Userinfo) error {
	password, _ := user.Password()
	if len(user.Username()) > 255 || len(password) > 255 {
		return errors.New("its user or password is longer than 255 bytes")
	}
	request := append([]byte{1, byte(len(user.Username()))}, user.Username()...)
	request = append(append(request, byte(len(password))), password...)
	reply, err := ask(conn, request, 2)
	if err == nil && reply[1] != 0 {
		err = errors.New("it refused the user and password")
	}
	return err
}

func socksConnect(conn io.ReadWriter, address string) error {
	host, port, err := net.SplitHostPort(address)
	number, errPort := strconv.ParseUint(port, 10, 16)
	if err != nil || errPort != nil || len(host) > 255 {
		return errors.New("the server's address does not fit")
	}
	request := append([]byte{5, 1, 0, 3, byte(len(host))}, host...)
	reply, err := ask(conn, append(request, byte(number>>8), byte(number)), 5)
	if err != nil {
		return err
	}
	if reply[1] != 0 {
		return fmt.Errorf("it did not reach the server (reply %d)", reply[1])
	}
	// What is left of the address that it bound, by its kind: IPv4, name, IPv6.
	left := map[byte]int{1: 3, 3: int(reply[4]), 4: 15}[reply[3]]
	_, err = ask(conn, nil, left+2)
	return err
}

// ask writes a request and reads n bytes of the reply.
func ask(conn io.ReadWriter, request []byte, n int) ([]byte, error) {
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	reply := make([]byte, n)
	_, err := io.ReadFull(conn, reply)
	return reply, err
}
