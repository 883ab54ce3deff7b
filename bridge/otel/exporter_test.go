package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// away is a collector that does not answer for a while.
type away struct{ attempts int }

func (a *away) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	if a.attempts--; a.attempts >= 0 {
		return errors.New("connection refused")
	}
	return nil
}

func (*away) Shutdown(context.Context) error { return nil }

// A collector that is away is told once, however many spans are lost, and so is that it is back.
func TestACollectorThatIsAwayIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.WriteString(err.Error() + "\n") }))
	p := newProvider(&exporter{SpanExporter: &away{attempts: 3}, trouble: trouble{log: slog.New(slog.NewTextHandler(&log, nil))}}, resource.Empty())
	for range 5 {
		recordOperation(p.Tracer("test"), "g", message())
		require.NoError(t, p.ForceFlush(t.Context()))
	}
	require.NoError(t, p.Shutdown(t.Context()))
	require.Equal(t, 1, strings.Count(log.String(), "connection refused"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "takes spans again"), log.String())
	require.Contains(t, log.String(), "lost=")
}
