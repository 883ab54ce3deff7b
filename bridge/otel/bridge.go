package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	client "github.com/failaware/failaware/clients/go"
)

// retryAfter is how long a bridge waits before it asks the node again.
const retryAfter = 500 * time.Millisecond

// bridge tells a collector what one node delivers.
type bridge struct {
	node   *client.ClientWithResponses
	tracer trace.Tracer
	share  share
	log    *slog.Logger

	group string
	self  int
	told  atomic.Uint64 // deliveries
}

// identify asks the node who it is.
func (b *bridge) identify(ctx context.Context) error {
	status, err := b.node.GetStatusWithResponse(ctx)
	if err != nil {
		return fmt.Errorf("the node: %w", err)
	}
	if status.JSON200 == nil {
		return fmt.Errorf("the node answers %s", status.Status())
	}
	b.group, b.self = status.JSON200.Group, status.JSON200.Node
	return nil
}

// run tells deliveries until ctx is done. It begins with new ones, also when it has lost the
// node for a while: nobody knows when the others were delivered. It fails if the node denies the
// bridge.
func (b *bridge) run(ctx context.Context) error {
	b.log.Info("telling", "node", b.self, "group", b.group)
	node, clock := trouble{log: b.log}, trouble{log: b.log}
	for ctx.Err() == nil {
		for d, err := range b.node.Deliveries(ctx, "") {
			if client.Denied(err) {
				return fmt.Errorf("the node: %w", err)
			}
			if err != nil {
				if ctx.Err() == nil {
					node.met("the node's deliveries end; the bridge connects again and again", err)
				}
				break
			}
			node.over("the node's deliveries go on")
			b.tell(ctx, &d, &clock)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
	return nil
}

// tell makes the spans of a delivery. clock is the trouble with the node's time.
func (b *bridge) tell(ctx context.Context, d *client.Delivery, clock *trouble) {
	switch {
	case d.Kind == "missed":
		b.log.Warn("the bridge was too slow for some items of the node", "count", value(d.Count))
	case d.Kind == "message" && d.Message != nil && b.share.has(digest(b.group, *d.Message)):
		c, err := b.time(ctx)
		if err != nil {
			clock.met("the node does not tell its time, so deliveries are left out", err)
			return
		}
		clock.over("the node tells its time again")
		record(b.tracer, b.group, d, reading{time.Unix(0, c.TimeNs), c.DeviationNs, c.UpToDate})
		b.told.Add(1)
	case d.Kind == "operation" && d.Message != nil && b.share.has(digest(b.group, *d.Message)):
		recordOperation(b.tracer, b.group, d)
		b.told.Add(1)
	}
}

// time asks the node for the time of its group.
func (b *bridge) time(ctx context.Context) (*client.Clock, error) {
	answer, err := b.node.GetClockWithResponse(ctx)
	if err == nil && answer.JSON200 == nil {
		err = fmt.Errorf("the node answers %s", answer.Status())
	}
	if err != nil {
		return nil, err
	}
	return answer.JSON200, nil
}
