package main

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	client "github.com/failaware/failaware/clients/go"
)

// recordOperation makes the spans of an operation of the store as a node saw it. The
// sender's bridge makes the first span of the trace, and the one below it until the
// operation was sent.
func recordOperation(tracer trace.Tracer, group string, d *client.Delivery) {
	root := digest(group, *d.Message)
	common := []attribute.KeyValue{
		attribute.String("failaware.group", group), attribute.String("failaware.message", *d.Message),
		attribute.Int("failaware.sender", value(d.Sender)), attribute.Int("failaware.node", d.Node),
	}
	common = append(common, bounds(map[string]*int64{"failaware.submitted.deviation_ns": d.SubmittedDeviationNs, "failaware.sent.deviation_ns": d.DeviationNs,
		"failaware.here.deviation_ns": d.HereDeviationNs})...)
	span := func(parent context.Context, x ids, name string, kind trace.SpanKind, from, to *int64) {
		began := time.Unix(0, value(from))
		ended := time.Unix(0, max(value(from), value(to))) // within the bounds of both
		_, s := tracer.Start(context.WithValue(parent, chosen{}, x), name, trace.WithTimestamp(began), trace.WithSpanKind(kind), trace.WithAttributes(common...))
		s.End(trace.WithTimestamp(ended))
	}
	part := func(name string, kind trace.SpanKind, from, to *int64) {
		x := digest(group, *d.Message, name, d.Id)
		span(below(root), ids{root.trace, x.span}, name, kind, from, to)
	}
	if d.Node == value(d.Sender) {
		span(context.Background(), root, "operation", trace.SpanKindProducer, d.SubmittedNs, d.AppliedNs)
		part("submit", trace.SpanKindInternal, d.SubmittedNs, d.StampNs)
	}
	part("order", trace.SpanKindConsumer, d.StampNs, d.OrderedNs)
	part("apply", trace.SpanKindInternal, d.OrderedNs, d.AppliedNs)
}
