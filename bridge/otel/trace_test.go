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
