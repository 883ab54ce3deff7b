package main

import (
	"context"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter is one to a collector. The log says once why it takes no spans, which are lost.
type exporter struct {
	sdk.SpanExporter
	trouble trouble
	lost    int // spans, since it took some
}

// ExportSpans has no error, since the one who asks would log each.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.lost += len(spans)
		e.trouble.met("the collector takes no spans, and they are lost", err)
		return nil
	}
	e.trouble.over("the collector takes spans again", "lost", e.lost)
	e.lost = 0
	return nil
}
