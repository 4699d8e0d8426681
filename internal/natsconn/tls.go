package natsconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// tlsOptions reads the certificates. A client certificate needs both files, and
// is not used with one, as in the nats tool.
func (s *settings) tlsOptions(r resolver) ([]nats.Option, error) {
	var opts []nats.Option
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.cert != "" && s.key != "" {
		pair, err := s.clientCertificate(r)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
		opts = append(opts, nats.Secure(config))
	}
	if s.ca != "" {
		pool, err := s.authorities(r)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
		opts = append(opts, nats.Secure(config))
	}
	if s.tlsFirst {
		opts = append(opts, nats.TLSHandshakeFirst())
	}
	return opts, nil
}

func (s *settings) clientCertificate(r resolver) (tls.Certificate, error) {
	cert, err := readFile("cert", r.path(s.cert))
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readFile("key", r.path(s.key))
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, errors.New("cert and key: they are not a pair of a PEM certificate and its key")
	}
	return pair, nil
}

func (s *settings) authorities(r resolver) (*x509.CertPool, error) {
	pem, err := readFile("ca", r.path(s.ca))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("ca: there is no PEM certificate in it")
	}
	return pool, nil
}

// checkTLS refuses references to what is not a file, and Windows stores.
func (s *settings) checkTLS() []error {
	var errs []error
	if s.winCertStore != "" {
		errs = append(errs, errors.New("windows_cert_store: natsmig does not read Windows certificate stores"))
	}
	for _, file := range []reference{{"cert", s.cert, false}, {"key", s.key, false}, {"ca", s.ca, false}} {
		if sch := scheme(file.ref); sch != "" && sch != "file" {
			errs = append(errs, fmt.Errorf("%s: only a file can be given here", file.field))
		}
	}
	return errs
}
