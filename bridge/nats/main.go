package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	client "github.com/failaware/failaware/clients/go"
)

// options are the flags.
type options struct {
	node, token       string
	server, creds     string
	stream, what      string
	natsCA            string
	natsCert, natsKey string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.node, "node", "/run/failaware/failaware.sock", "the node: the path of its socket, or http://LOOPBACK:PORT")
	flag.StringVar(&o.token, "token-file", "", "file with the token of an http:// address")
	flag.StringVar(&o.server, "nats", nats.DefaultURL, "the servers of NATS, separated by commas")
	flag.StringVar(&o.creds, "creds", "", "file with credentials for NATS")
	flag.StringVar(&o.natsCA, "nats-ca", "", "file with the authorities of the servers' certificates")
	flag.StringVar(&o.natsCert, "nats-cert", "", "file with a certificate for NATS")
	flag.StringVar(&o.natsKey, "nats-key", "", "file with its key")
	flag.StringVar(&o.stream, "stream", "FAILAWARE", "the stream of JetStream; made if it does not exist")
	flag.StringVar(&o.what, "what", strings.Join(parts, ","), "what is published; messages need a node with --broadcast")
	flag.Parse()
	if err := o.main(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "failaware-nats:", err)
		os.Exit(1)
	}
}

func (o *options) main(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is one argument too many", flag.Arg(0))
	}
	what := strings.Split(o.what, ",")
	for _, w := range what {
		if !slices.Contains(parts, w) {
			return fmt.Errorf("-what: %q is none of %s", w, strings.Join(parts, ", "))
		}
	}
	target, err := client.At(o.node, o.token)
	if err != nil {
		return fmt.Errorf("-node and -token-file: %w", err)
	}
	node, err := client.New(target)
	if err != nil {
		return fmt.Errorf("-node: %w", err)
	}
	conn, err := nats.Connect(o.server, o.natsOptions()...)
	if err != nil {
		return fmt.Errorf("-nats %s: %w", o.server, err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	b := &bridge{node: node, js: js, stream: o.stream, what: what, log: slog.Default()}
	err = b.run(ctx)
	b.log.Info("ended", "published", b.published.Load(), "known", b.known.Load(), "too_large", b.tooLarge.Load())
	return err
}

// natsOptions has the bridge connect again for ever.
func (o *options) natsOptions() []nats.Option {
	all := []nats.Option{nats.Name("failaware-nats"), nats.MaxReconnects(-1), nats.ReconnectWait(retryAfter), nats.IgnoreAuthErrorAbort()}
	if o.creds != "" {
		all = append(all, nats.UserCredentials(o.creds))
	}
	if o.natsCA != "" {
		all = append(all, nats.RootCAs(o.natsCA))
	}
	if o.natsCert != "" {
		all = append(all, nats.ClientCert(o.natsCert, o.natsKey))
	}
	return all
}
