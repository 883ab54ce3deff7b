package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"

	client "github.com/failaware/failaware/clients/go"
)

// options are the flags.
type options struct {
	node, token, collector string
	share                  float64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.node, "node", "/run/failaware/failaware.sock", "the node: the path of its socket, or http://LOOPBACK:PORT")
	flag.StringVar(&o.token, "token-file", "", "file with the token of an http:// address")
	flag.StringVar(&o.collector, "otlp", "", "the collector's address for OTLP over HTTP, as http://localhost:4318; the variables OTEL_EXPORTER_OTLP_... otherwise")
	flag.Float64Var(&o.share, "share", 1, "the part of all messages that are told, above 0 and up to 1; the same at all bridges")
	flag.Parse()
	if err := o.main(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "failaware-otel:", err)
		os.Exit(1)
	}
}

// lastWords bounds how long the spans of an ending bridge may take to the collector.
const lastWords = 5 * time.Second

func (o *options) main(ctx context.Context) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q is one argument too many", flag.Arg(0))
	case !(o.share > 0 && o.share <= 1):
		return fmt.Errorf("-share: %v is not above 0 and up to 1", o.share)
	}
	target, err := client.At(o.node, o.token)
	if err != nil {
		return fmt.Errorf("-node and -token-file: %w", err)
	}
	node, err := client.New(target)
	if err != nil {
		return fmt.Errorf("-node: %w", err)
	}
	var to []otlptracehttp.Option
	if o.collector != "" {
		if !strings.HasPrefix(o.collector, "http://") && !strings.HasPrefix(o.collector, "https://") {
			return fmt.Errorf("-otlp: %q begins neither with http:// nor with https://", o.collector)
		}
		to = append(to, otlptracehttp.WithEndpointURL(strings.TrimSuffix(o.collector, "/")+"/v1/traces"))
	}
	spans, err := otlptracehttp.New(ctx, to...)
	if err != nil {
		return fmt.Errorf("-otlp: %w", err)
	}
	b := &bridge{node: node, share: share(o.share), log: slog.Default()}
	if err := b.identify(ctx); err != nil {
		return err
	}
	provider := newProvider(&exporter{SpanExporter: spans, trouble: trouble{log: b.log}}, resource.NewSchemaless(attribute.String("service.name", "failaware"),
		attribute.String("service.namespace", b.group), attribute.String("service.instance.id", fmt.Sprint(b.self))))
	b.tracer = provider.Tracer("github.com/failaware/failaware/bridge/otel")
	denied := b.run(ctx)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	b.log.Info("ended", "messages", b.told.Load())
	return errors.Join(denied, provider.Shutdown(ending))
}
