package natsconn

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startBroker starts a broker on a free port of the loopback interface, until the
// end of the test.
func startBroker(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	opts.Host, opts.Port, opts.NoLog, opts.NoSigs = "127.0.0.1", -1, true, true
	if opts.JetStream {
		opts.StoreDir = t.TempDir()
	}
	broker, err := server.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	go broker.Start()
	t.Cleanup(func() {
		broker.Shutdown()
		broker.WaitForShutdown()
	})
	if !broker.ReadyForConnections(10 * time.Second) {
		t.Fatal("the broker does not start")
	}
	return broker
}

// connect connects to what the config resolves to.
func (w *world) connect(c Config) (*Conn, error) {
	w.t.Helper()
	conn, err := w.one(c).Connect(w.t.Context())
	if err == nil {
		w.t.Cleanup(conn.Close)
	}
	return conn, err
}

// mustConnect is connect for a config that has to work.
func (w *world) mustConnect(c Config) *Conn {
	w.t.Helper()
	conn, err := w.connect(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// closedPort gives the address of a port that nothing listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// silentPort gives the address of a listener that accepts and says nothing, and a
// channel that tells of each connection.
func silentPort(t *testing.T) (string, <-chan struct{}) {
	t.Helper()
	return listen(t, func(net.Conn) {})
}

// stuckPort is silentPort for a listener that greets and waits for the client to
// say who it is before it goes silent.
func stuckPort(t *testing.T) (string, <-chan struct{}) {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		_, _ = conn.Write([]byte("INFO {}\r\n"))
		_, _ = bufio.NewReader(conn).ReadString('\n')
	})
}

func listen(t *testing.T, serve func(net.Conn)) (string, <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{}, 16)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close() // when the listener is closed
			serve(conn)
			served <- struct{}{}
		}
	}()
	return l.Addr().String(), served
}

// authority signs certificates for one test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign gives a certificate for 127.0.0.1 and its key, in PEM.
func (a *authority) sign() (cert, key []byte) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	private := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
}

// serverTLS is a broker's configuration with a certificate of the authority.
func (a *authority) serverTLS(clients tls.ClientAuthType) *tls.Config {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.sign())
	if err != nil {
		a.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		ClientAuth: clients, ClientCAs: pool,
	}
}
