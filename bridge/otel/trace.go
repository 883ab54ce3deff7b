package main

import (
	"context"
	"crypto/sha256"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	client "github.com/failaware/failaware/clients/go"
)

// ids are those of a span.
type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// digest makes ids of texts. Ids are never 0, which the digest of no known text is.
func digest(texts ...string) (x ids) {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	copy(x.trace[:], sum)
	copy(x.span[:], sum[len(x.trace):])
	return x
}

// chosen is the key of the ids that a context has for the next span.
type chosen struct{}

// generator gives each span the ids of its context.
type generator struct{}

func (generator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	x := ctx.Value(chosen{}).(ids)
	return x.trace, x.span
}

func (g generator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, span := g.NewIDs(ctx)
	return span
}

// newProvider returns a provider that hands all spans to an exporter.
func newProvider(e sdk.SpanExporter, r *resource.Resource) *sdk.TracerProvider {
	return sdk.NewTracerProvider(sdk.WithBatcher(e, sdk.WithBlocking()), sdk.WithIDGenerator(generator{}), sdk.WithResource(r))
}

// share is the part of all messages that are told, 0 to 1. All bridges choose the same.
type share float64

func (s share) has(x ids) bool {
	sampler := sdk.TraceIDRatioBased(float64(s))
	return sampler.ShouldSample(sdk.SamplingParameters{TraceID: x.trace}).Decision == sdk.RecordAndSample
}

// reading is a reading of the group's clock. Its deviation is unknown if it is not up to
// date.
type reading struct {
	at        time.Time
	deviation *int64
	upToDate  bool
}

// record makes the spans of a delivery at a node. The sender's own delivery makes the first
// span of the trace, whose ids all bridges know.
func record(tracer trace.Tracer, group string, d *client.Delivery, now reading) {
	root := digest(group, *d.Message)
	sent := time.Unix(0, value(d.StampNs))
	if now.at.Before(sent) {
		now.at = sent // within the bounds of both
	}
	common := []attribute.KeyValue{
		attribute.String("failaware.group", group), attribute.String("failaware.message", *d.Message),
		attribute.Int("failaware.sender", value(d.Sender)),
		attribute.String("failaware.order", value(d.Order)), attribute.String("failaware.atomicity", value(d.Atomicity)),
		attribute.String("failaware.view", value(d.View)), attribute.Int64("failaware.position", value(d.Position)),
		attribute.Bool("failaware.delivered.up_to_date", now.upToDate),
	}
	common = append(common, bounds(map[string]*int64{"failaware.sent.deviation_ns": d.DeviationNs, "failaware.delivered.deviation_ns": now.deviation})...)
	span := func(parent context.Context, x ids, name string, kind trace.SpanKind, more ...attribute.KeyValue) {
		_, s := tracer.Start(context.WithValue(parent, chosen{}, x), name, trace.WithTimestamp(sent), trace.WithSpanKind(kind),
			trace.WithAttributes(common...), trace.WithAttributes(more...))
		if value(d.Transitional) {
			s.SetStatus(codes.Error, "the view ended before the atomicity was reached")
		}
		s.End(trace.WithTimestamp(now.at))
	}
	if d.Node == value(d.Sender) {
		span(context.Background(), root, "broadcast", trace.SpanKindProducer)
	}
	at := digest(group, *d.Message, "deliver", d.Id)
	span(below(root), ids{root.trace, at.span}, "deliver", trace.SpanKindConsumer, attribute.Int("failaware.node", d.Node))
}

// bounds returns attributes for the bounds that are known. Without an attribute, nothing is
// known of an error, and it may be of any size.
func bounds(named map[string]*int64) (list []attribute.KeyValue) {
	for name, bound := range named {
		if bound != nil {
			list = append(list, attribute.Int64(name, *bound))
		}
	}
	return list
}

// below returns a context for spans below the first one of a trace.
func below(root ids) context.Context {
	return trace.ContextWithRemoteSpanContext(context.Background(),
		trace.NewSpanContext(trace.SpanContextConfig{TraceID: root.trace, SpanID: root.span, TraceFlags: trace.FlagsSampled, Remote: true}))
}

// value returns what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
