package natsconn

import (
	"crypto/tls"
	"errors"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	trusted := newAuthority(t)
	broker := startBroker(t, server.Options{TLSConfig: trusted.serverTLS(tls.NoClientCert), TLSTimeout: 10})
	w := newWorld(t)
	ca := w.file("home/ca.pem", string(trusted.pem))
	for _, c := range []Config{
		{TLSCA: ca},
		{TLSCA: "~/ca.pem"},
		{TLSCA: "file://" + ca},
	} {
		c.Servers = "nats://" + broker.Addr().String()
		state, err := w.mustConnect(c).NATS().TLSConnectionState()
		if err != nil || !state.HandshakeComplete {
			t.Errorf("the connection has TLS state %v, %v", state.HandshakeComplete, err)
		}
	}
	other := w.file("other.pem", string(newAuthority(t).pem))
	tlsTrouble(t, w, Config{Servers: "nats://" + broker.Addr().String(), TLSCA: other})
	tlsTrouble(t, w, Config{Servers: "tls://" + broker.Addr().String()})
	for _, file := range []string{"/does/not/exist.pem", w.file("empty.pem", "")} {
		tlsTrouble(t, w, Config{Servers: broker.ClientURL(), TLSCA: file})
	}
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	trusted := newAuthority(t)
	broker := startBroker(t, server.Options{
		TLSConfig: trusted.serverTLS(tls.RequireAndVerifyClientCert), TLSVerify: true, TLSTimeout: 10,
	})
	w := newWorld(t)
	ca := w.file("ca.pem", string(trusted.pem))
	pem, private := trusted.sign()
	cert, key := w.file("cert.pem", string(pem)), w.file("key.pem", string(private))
	at := Config{Servers: broker.ClientURL(), TLSCA: ca}

	good := at
	good.TLSCert, good.TLSKey = cert, key
	w.mustConnect(good)

	w.vars["NATS_CERT"], w.vars["NATS_KEY"] = cert, key
	w.mustConnect(at)
	clear(w.vars)

	tlsTrouble(t, w, at)
	half := at
	half.TLSCert = cert
	tlsTrouble(t, w, half)
	var refusal *ConnectError
	if _, err := w.connect(half); !errors.As(err, &refusal) {
		t.Errorf("half a certificate gave %v, want it not to be used", err)
	}
	notAPair := at
	notAPair.TLSCert, notAPair.TLSKey = cert, cert
	tlsTrouble(t, w, notAPair)
	pem, private = newAuthority(t).sign()
	stranger := at
	stranger.TLSCert, stranger.TLSKey = w.file("c2.pem", string(pem)), w.file("k2.pem", string(private))
	tlsTrouble(t, w, stranger)
}

func TestTLSFirst(t *testing.T) {
	t.Parallel()
	trusted := newAuthority(t)
	broker := startBroker(t, server.Options{
		TLSConfig: trusted.serverTLS(tls.NoClientCert), TLSTimeout: 10, TLSHandshakeFirst: true,
	})
	w := newWorld(t)
	ca := w.file("ca.pem", string(trusted.pem))
	w.mustConnect(Config{Servers: broker.ClientURL(), TLSCA: ca, TLSFirst: true})
	w.context("c", `{"url": "`+broker.ClientURL()+`", "tls_first": true, "ca": "`+ca+`"}`)
	w.mustConnect(Config{Contexts: []string{"c"}})
	if _, err := w.connect(Config{Servers: broker.ClientURL(), TLSCA: ca, Timeout: shortly}); !errors.Is(err, ErrTimeout) {
		t.Errorf("waiting for the greeting gave %v, want ErrTimeout", err)
	}
	plain := startBroker(t, server.Options{})
	tlsTrouble(t, w, Config{Servers: plain.ClientURL(), TLSFirst: true})
	tlsTrouble(t, w, Config{Servers: plain.ClientURL(), TLSCA: ca})
}

func tlsTrouble(t *testing.T, w *world, c Config) {
	t.Helper()
	if _, err := w.connect(c); !errors.Is(err, ErrTLS) {
		t.Errorf("%v gave %v, want ErrTLS", c, err)
	}
}
