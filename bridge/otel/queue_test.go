package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// slow is an exporter that takes spans when their maker gets no further.
type slow struct{ made, spans atomic.Int64 }

func (s *slow) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for before := int64(-1); s.made.Load() != before; time.Sleep(20 * time.Millisecond) {
		before = s.made.Load()
	}
	s.spans.Add(int64(len(spans)))
	return nil
}

func (*slow) Shutdown(context.Context) error { return nil }

// A burst of messages loses no spans, however slow the collector is: the stream of the node
// waits, and says what it no longer keeps.
func TestABurstLosesNoSpans(t *testing.T) {
	e := &slow{}
	p := newProvider(e, resource.Empty())
	const messages = 4000
	for range messages {
		record(p.Tracer("test"), "g", message(), reading{time.Unix(0, 2000), with(int64(40)), true})
		e.made.Add(1)
	}
	require.NoError(t, p.Shutdown(context.Background()))
	require.EqualValues(t, 2*messages, e.spans.Load())
}
