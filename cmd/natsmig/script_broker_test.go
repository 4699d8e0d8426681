package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/natsmig/natsmig/internal/fleet"
	"github.com/natsmig/natsmig/natstest"
)

// brokers are the commands of scripts that have to do with brokers, which live
// until all scripts are done.
type brokers struct{ t *testing.T }

// server starts a broker. A silent one has an API that never answers. With accounts it has the domain hub, and the users
// admin, reader (who may not list consumers), blind (who may nothing), half
// (who may not ask for the consumer billing of ORDERS) and other (in an account
// without JetStream), each with the password "hunter2".
func (b brokers) server(ts *testscript.TestScript, _ bool, args []string) {
	kind := ""
	if len(args) > 0 {
		kind = args[0]
	}
	var opts []natstest.Option
	user := func(name string, deny ...string) natstest.User {
		return natstest.User{Name: name, Password: "hunter2", Publish: natstest.Permission{Deny: deny}}
	}
	switch kind {
	case "":
	case "no-jetstream", "silent":
		opts = append(opts, natstest.WithoutJetStream())
	case "accounts":
		opts = append(opts, natstest.WithDomain("hub"), natstest.WithUser("admin", "hunter2"), natstest.WithAccounts(
			natstest.Account{Name: "TEAM", Users: []natstest.User{
				user("admin"), user("reader", "$JS.API.CONSUMER.LIST.>", "$JS.API.CONSUMER.NAMES.>"), user("blind", ">"),
				user("half", "$JS.API.CONSUMER.INFO.ORDERS.billing"),
			}},
			natstest.Account{Name: "OTHER", Users: []natstest.User{user("other")}, NoJetStream: true}))
	default:
		ts.Fatalf("no kind of broker is called %q", kind)
	}
	srv := natstest.Start(b.t, opts...)
	if kind == "silent" {
		_, err := srv.NC.SubscribeSync("$JS.API.>")
		ts.Check(err)
		ts.Check(srv.NC.Flush())
	}
	ts.Setenv("NATS_URL", srv.URL())
	ts.Setenv("BROKER_VERSION", srv.Version())
}

// connect connects to the broker as the script's variables say.
func connect(ts *testscript.TestScript) *nats.Conn {
	nc, err := nats.Connect(ts.Getenv("NATS_URL"), nats.UserInfo(ts.Getenv("NATS_USER"), ts.Getenv("NATS_PASSWORD")))
	ts.Check(err)
	return nc
}

func (b brokers) with(ts *testscript.TestScript, do func(context.Context, jetstream.JetStream) error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	nc := connect(ts)
	defer nc.Close()
	js, err := jetstream.New(nc)
	ts.Check(err)
	ts.Check(do(ctx, js))
}

func (b brokers) fleet(ts *testscript.TestScript, _ bool, _ []string) {
	b.with(ts, func(ctx context.Context, js jetstream.JetStream) error { return fleet.Build(ctx, js.Conn()) })
	ts.Check(writeScriptFile(ts, "fleet.yaml", fleet.Declarations))
}

func (b brokers) stream(ts *testscript.TestScript, _ bool, args []string) {
	b.with(ts, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: args[0], Subjects: args[1:2]})
		return err
	})
}

func (b brokers) consumer(ts *testscript.TestScript, _ bool, args []string) {
	wait, err := time.ParseDuration(args[2])
	ts.Check(err)
	config := jetstream.ConsumerConfig{Durable: args[1], AckPolicy: jetstream.AckExplicitPolicy, AckWait: wait}
	if len(args) > 3 && args[3] == "paused" {
		until := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
		config.PauseUntil = &until
	}
	b.with(ts, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateConsumer(ctx, args[0], config)
		return err
	})
}

// pull leaves a pull waiting until all scripts are done.
func (b brokers) pull(ts *testscript.TestScript, _ bool, args []string) {
	nc := connect(ts)
	b.t.Cleanup(nc.Close)
	inbox := nc.NewInbox()
	_, err := nc.SubscribeSync(inbox)
	ts.Check(err)
	ts.Check(nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+args[0]+"."+args[1], inbox, nil))
	b.with(ts, func(ctx context.Context, js jetstream.JetStream) error {
		c, err := js.Consumer(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		natstest.Eventually(b.t, 10*time.Second, func() error {
			if info, err := c.Info(ctx); err != nil || info.NumWaiting == 0 {
				return fmt.Errorf("no pull waits: %w", err)
			}
			return nil
		})
		return nil
	})
}
