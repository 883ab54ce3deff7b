package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	client "github.com/failaware/failaware/clients/go"
)

// told returns the spans that f makes.
func told(f func(trace.Tracer)) tracetest.SpanStubs {
	e := tracetest.NewInMemoryExporter()
	f(sdk.NewTracerProvider(sdk.WithSyncer(e), sdk.WithIDGenerator(generator{})).Tracer("test"))
	return e.GetSpans()
}

func with[T any](x T) *T { return &x }

// message returns a delivery with all fields that are told.
func message() *client.Delivery {
	return &client.Delivery{Id: "run.1", Node: 2, Kind: "message", Message: with("2/00c0ffee00c0ffee/o7"), Sender: with(2), Order: with("total"),
		Atomicity: with("strict"), View: with("3@1"), Position: with(int64(5)), StampNs: with(int64(1000)), DeviationNs: with(int64(30))}
}

// A span has all that is known of its message. Where no bound of an error is known there is
// none, because a bound of 0 would claim that there is no error.
func TestSpansClaimNoUnknownBound(t *testing.T) {
	has := func(d *client.Delivery, now reading) (all []map[attribute.Key]attribute.Value) {
		for _, s := range told(func(tr trace.Tracer) { record(tr, "g", d, now) }) {
			set := map[attribute.Key]attribute.Value{}
			for _, a := range s.Attributes {
				set[a.Key] = a.Value
			}
			require.Equal(t, codes.Unset, s.Status.Code)
			all = append(all, set)
		}
		return all
	}
	want := map[attribute.Key]attribute.Value{"failaware.group": attribute.StringValue("g"), "failaware.message": attribute.StringValue("2/00c0ffee00c0ffee/o7"),
		"failaware.sender": attribute.IntValue(2), "failaware.order": attribute.StringValue("total"), "failaware.atomicity": attribute.StringValue("strict"),
		"failaware.view": attribute.StringValue("3@1"), "failaware.position": attribute.Int64Value(5), "failaware.sent.deviation_ns": attribute.Int64Value(30),
		"failaware.delivered.deviation_ns": attribute.Int64Value(40), "failaware.delivered.up_to_date": attribute.BoolValue(true)}
	all := has(message(), reading{time.Unix(0, 2000), with(int64(40)), true})
	require.Equal(t, want, all[0], "the first span of the trace")
	want["failaware.node"] = attribute.IntValue(2)
	require.Equal(t, want, all[1])

	d := message()
	d.DeviationNs = nil
	delete(want, "failaware.sent.deviation_ns")
	delete(want, "failaware.delivered.deviation_ns")
	want["failaware.delivered.up_to_date"] = attribute.BoolValue(false)
	require.Equal(t, want, has(d, reading{at: time.Unix(0, 2000)})[1])

	o := &client.Delivery{Id: "run.1", Node: 1, Kind: "operation", Message: with("2/00c0ffee00c0ffee/o7"), Sender: with(2), HereDeviationNs: with(int64(7))}
	for _, s := range told(func(tr trace.Tracer) { recordOperation(tr, "g", o) }) {
		require.ElementsMatch(t, []attribute.KeyValue{attribute.String("failaware.group", "g"), attribute.String("failaware.message", *o.Message),
			attribute.Int("failaware.sender", 2), attribute.Int("failaware.node", 1), attribute.Int64("failaware.here.deviation_ns", 7)}, s.Attributes)
	}
}

// All spans of a delivery without its atomicity say so.
func TestATransitionalDeliveryIsAnError(t *testing.T) {
	d := message()
	d.Transitional = with(true)
	spans := told(func(tr trace.Tracer) { record(tr, "g", d, reading{at: time.Unix(0, 2000)}) })
	require.Len(t, spans, 2)
	for _, s := range spans {
		require.Equal(t, codes.Error, s.Status.Code)
	}
}

// Instants of two clocks are as far apart as their bounds allow, and no span ends before it begins.
func TestNoSpanEndsBeforeItBegins(t *testing.T) {
	o := &client.Delivery{Id: "run.1", Node: 2, Kind: "operation", Message: with("2/00c0ffee00c0ffee/o7"), Sender: with(2), SubmittedNs: with(int64(5000)),
		StampNs: with(int64(4000)), OrderedNs: with(int64(3000)), AppliedNs: with(int64(2000))}
	spans := append(told(func(tr trace.Tracer) { recordOperation(tr, "g", o) }), told(func(tr trace.Tracer) { record(tr, "g", message(), reading{at: time.Unix(0, 10)}) })...)
	require.Len(t, spans, 4+2)
	for _, s := range spans {
		require.Equal(t, s.StartTime, s.EndTime, s.Name)
	}
}

// The ids of a message are its own, and those of each delivery too.
func TestIDsAreOfOneThing(t *testing.T) {
	require.NotEqual(t, digest("group", "1/2"), digest("group1", "/2"))
	other := message()
	other.Id, other.Node = "run.2", 3
	here := told(func(tr trace.Tracer) { record(tr, "g", message(), reading{at: time.Unix(0, 2000)}) })
	there := told(func(tr trace.Tracer) { record(tr, "g", other, reading{at: time.Unix(0, 2000)}) })
	require.Len(t, there, 1, "the sender's bridge makes the first span")
	require.Equal(t, here[1].SpanContext.TraceID(), there[0].SpanContext.TraceID())
	require.NotEqual(t, here[1].SpanContext.SpanID(), there[0].SpanContext.SpanID())
}

// What is not in the share is not told, be it a message or an operation.
func TestTheShareIsOfAll(t *testing.T) {
	b := &bridge{group: "g"}
	spans := told(func(tr trace.Tracer) {
		b.tracer = tr
		for _, kind := range []string{"message", "operation"} {
			d := message()
			d.Kind = kind
			b.tell(t.Context(), d, new(trouble))
		}
	})
	require.Empty(t, spans)
	require.Zero(t, b.told.Load())
}
