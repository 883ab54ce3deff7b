package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	client "github.com/failaware/failaware/clients/go"
)

// retryAfter is how long a bridge waits before it asks the node or NATS again.
const retryAfter = 500 * time.Millisecond

// bridge publishes what one node says.
type bridge struct {
	node   *client.ClientWithResponses
	js     jetstream.JetStream
	stream string
	what   []string // parts of the stream: views, leader, messages
	log    *slog.Logger

	group string
	// published counts items that this bridge was the first to publish, known those that were
	// there, and tooLarge those that NATS does not take.
	published, known, tooLarge atomic.Uint64
}

// parts are what can be published.
var parts = []string{"views", "leader", "messages"}

// run publishes until ctx is done. It fails if the node does not answer at the start, or
// if NATS refuses the stream; later it waits for them.
func (b *bridge) run(ctx context.Context) error {
	if err := b.begin(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was ended before it began
		}
		return err
	}
	return b.follow(ctx)
}

// begin asks the node for its group, and makes the stream.
func (b *bridge) begin(ctx context.Context) error {
	status, err := b.node.GetStatusWithResponse(ctx)
	if err != nil {
		return fmt.Errorf("the node: %w", err)
	}
	if status.JSON200 == nil {
		return fmt.Errorf("the node answers %s", status.Status())
	}
	b.group = token(status.JSON200.Group)
	if err := b.makeStream(ctx); err != nil {
		return fmt.Errorf("the stream %s: %w", b.stream, err)
	}
	b.log.Info("publishing", "node", status.JSON200.Node, "stream", b.stream, "subjects", b.subjects())
	return nil
}

// follow publishes what comes from the node until ctx is done, or the node denies the bridge.
func (b *bridge) follow(ctx context.Context) error {
	streams, end := context.WithCancelCause(ctx)
	defer end(nil)
	var all sync.WaitGroup
	if b.wants("views") || b.wants("leader") {
		all.Go(func() {
			end(follow(streams, b, func(since string) iter.Seq2[client.Event, error] { return b.node.Events(streams, "", since) }, b.event))
		})
	}
	if b.wants("messages") {
		all.Go(func() {
			end(follow(streams, b, func(since string) iter.Seq2[client.Delivery, error] { return b.node.Deliveries(streams, since) }, b.delivery))
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(streams)
}

func (b *bridge) wants(part string) bool {
	for _, w := range b.what {
		if w == part {
			return true
		}
	}
	return false
}

func (b *bridge) subjects() string { return "failaware." + b.group + ".>" }

// patience is for how long a bridge waits for a server that says that JetStream is not
// available: one that has just started may say so, and one without JetStream does.
const patience = 30 * time.Second

// makeStream makes the stream unless it exists: its limits are for its operator. It waits
// for a server whose JetStream is not ready yet, and fails if the server refuses.
func (b *bridge) makeStream(ctx context.Context) error {
	js := trouble{log: b.log}
	for begin := time.Now(); ; {
		_, err := b.js.Stream(ctx, b.stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = b.js.CreateStream(ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{b.subjects()}})
		}
		e, answered := errors.AsType[*jetstream.APIError](err)
		refused := answered && (e.Code != http.StatusServiceUnavailable || time.Since(begin) > patience)
		if err == nil {
			js.over("JetStream answers")
		}
		if err == nil || refused || ctx.Err() != nil {
			return err
		}
		js.met("JetStream does not answer; the bridge tries again and again", err)
		sleep(ctx)
	}
}

// item is what one event or delivery is published as.
type item struct {
	id      string // to continue after
	subject string // below that of the group; empty for what is not published
	missed  int64  // how many items before it are lost
}

// follow publishes the items of a stream of the node, and connects again when it ends. It
// begins with the oldest item that the node keeps: what is published already is known. It returns
// an error if the node denies the bridge.
func follow[T any](ctx context.Context, b *bridge, open func(since string) iter.Seq2[T, error], read func(T) item) error {
	since := "0"
	node := trouble{log: b.log}
	for ctx.Err() == nil {
		for x, err := range open(since) {
			if client.Denied(err) {
				return fmt.Errorf("the node: %w", err)
			}
			if err != nil {
				if ctx.Err() == nil {
					node.met("the node's stream ends; the bridge connects again and again", err)
				}
				break
			}
			node.over("the node's stream goes on")
			i := read(x)
			if i.missed > 0 {
				b.log.Error("the node no longer keeps some items: they are in the stream only if another bridge has published them", "count", i.missed)
			}
			if i.subject != "" && !b.publish(ctx, i.subject, x) {
				return nil
			}
			since = i.id
		}
		sleep(ctx)
	}
	return nil
}

func sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(retryAfter):
	}
}

// event returns how an event is published. Members of a view have the same one; a change
// of a leader is told by that leader.
func (b *bridge) event(e client.Event) item {
	i := item{id: e.Id}
	switch {
	case e.Kind == "missed" && e.Count != nil:
		i.missed = *e.Count
	case e.Kind == "view-installed" && e.View != nil && b.wants("views"):
		i.subject = "views." + token(*e.View)
	case (e.Kind == "elected" || e.Kind == "lead-lost" || e.Kind == "global-elected" || e.Kind == "global-lost") && b.wants("leader"):
		i.subject = fmt.Sprintf("leader.%d.%s", e.Node, token(e.Id))
	}
	return i
}

// delivery returns how a delivery is published: messages only, by the id that they have
// at all members.
func (b *bridge) delivery(d client.Delivery) item {
	i := item{id: d.Id}
	switch {
	case d.Kind == "missed" && d.Count != nil:
		i.missed = *d.Count
	case d.Kind == "message" && d.Message != nil:
		i.subject = "messages." + token(*d.Message)
	}
	return i
}

// tooLargeForStream is the error code of a message that is larger than the limit of its
// stream.
const tooLargeForStream jetstream.ErrorCode = 10054

// publish publishes a value at a subject that must be empty, and tries until NATS has
// stored it, or says that it is there, or that it is too large: no later attempt would be
// taken, and all that follows would wait for it. It returns false if ctx is done first.
func (b *bridge) publish(ctx context.Context, subject string, value any) bool {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values come from JSON
	}
	subject = "failaware." + b.group + "." + subject
	js := trouble{log: b.log}
	for ctx.Err() == nil {
		_, err := b.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
		refused, _ := errors.AsType[*jetstream.APIError](err)
		known := refused != nil && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
		if known {
			b.known.Add(1)
		} else if err == nil {
			b.published.Add(1)
		}
		if known || err == nil {
			js.over("NATS has stored the item", "subject", subject)
			return true
		}
		if errors.Is(err, nats.ErrMaxPayload) || refused != nil && refused.ErrorCode == tooLargeForStream {
			b.tooLarge.Add(1)
			b.log.Error("an item is left out, because it is larger than NATS takes", "subject", subject, "bytes", len(data), "error", err)
			return true
		}
		js.met("NATS has not stored an item; the bridge tries again and again", err, "subject", subject)
		sleep(ctx)
	}
	return false
}

// token makes one token of a subject from a text.
func token(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '.' || r == '*' || r == '>' {
			return '_'
		}
		return r
	}, text)
}
