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

// slow is an exporter whose collector takes its time.
type slow struct{ spans atomic.Int64 }

func (s *slow) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	time.Sleep(20 * time.Millisecond)
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
	}
	require.NoError(t, p.Shutdown(context.Background()))
	require.EqualValues(t, 2*messages, e.spans.Load())
}
