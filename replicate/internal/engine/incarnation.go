package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/timed"
)

// incarnation runs the machine of one incarnation.
type incarnation struct {
	*Engine
	self    timed.Incarnation
	machine *replica.Replica                       // owned by loop
	sends   [replica.Queues]*queue[replica.Effect] // to broadcast
	results chan result
	over    chan struct{} // closed when nothing takes results any more
}

func newIncarnation(e *Engine, of Incarnation) *incarnation {
	cfg := e.cfg
	cfg.Self, cfg.Quorum, cfg.Epoch, cfg.Began = of.Self, of.Quorum, of.Epoch, time.Now()
	i := &incarnation{Engine: e, self: of.Self, machine: replica.New(cfg, e.earlier), results: make(chan result), over: make(chan struct{})}
	for q := range i.sends {
		i.sends[q] = newQueue[replica.Effect](0, nil)
	}
	return i
}

// run returns why the incarnation has ended.
func (i *incarnation) run(ctx context.Context) error {
	defer close(i.over)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	items := make(chan []Item)
	wg.Go(func() { cancel(i.read(ctx, items)) }) // the first to fail ends the others
	for _, q := range i.sends {
		wg.Go(func() { cancel(i.send(ctx, q)) })
	}
	i.loop(ctx, items)
	wg.Wait()
	return context.Cause(ctx)
}

// end returns the state that the incarnation leaves to the next one, once the application
// has performed the calls that wait.
func (i *incarnation) end() replica.Earlier {
	i.distribute(i.machine.HandleEnd(i.now(), nil))
	return i.machine.Earlier()
}

// read takes the stream. What is at hand at once goes to the machine at once, as handing
// over costs more than a step of the machine.
func (i *incarnation) read(ctx context.Context, items chan<- []Item) error {
	var batches [2][]Item // loop is done with one when it takes the other
	for turn := 0; ; turn ^= 1 {
		it, err := i.group.Next(ctx)
		if err != nil {
			return err
		}
		batch := append(batches[turn][:0], it)
		for it, ok := i.group.More(); ok; it, ok = i.group.More() {
			batch = append(batch, it)
		}
		batches[turn] = batch
		select {
		case items <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// loop hands everything to the machine.
func (i *incarnation) loop(ctx context.Context, items <-chan []Item) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var out []replica.Effect
	for {
		select {
		case <-ctx.Done():
			return
		case batch := <-items:
			out = i.step(batch, out)
		case res := <-i.results:
			out = i.returned(res, out)
		case <-i.store.News():
			out = i.stored(out)
		case f := <-i.asks:
			f(i.machine)
			continue
		case <-timer.C:
			out = i.machine.HandleTimeout(i.now(), out)
		}
		out = i.distribute(out)
		if due := i.machine.Deadline(); due != timed.Never {
			timer.Reset(max(0, due.Sub(i.now())))
		}
	}
}

// step hands a batch of the stream to the machine, and lets go of what is in it.
func (i *incarnation) step(batch []Item, out []replica.Effect) []replica.Effect {
	now := i.now()
	for k := range batch {
		it := &batch[k]
		if it.View == nil {
			out = i.machine.HandleDelivery(now, it.Delivery, out)
			continue
		}
		out = i.distribute(out)
		i.machine.SetLoad(uint64(i.Behind())) // a snapshot would have to wait for these
		out = i.machine.HandleInstalled(now, it.View, it.Base, out)
	}
	clear(batch)
	return out
}

// stored hands what the disk has to the machine.
func (i *incarnation) stored(out []replica.Effect) []replica.Effect {
	at, rank, events := i.store.take()
	for _, e := range events {
		switch {
		case e.Kind == replica.EventRefused:
			e.Member, e.View = i.self.Node, i.machine.View()
		case e.Kind == replica.EventDisk && e.Err != nil:
			i.machine.MakeRoom()
		}
		i.tell(Event{Event: e})
	}
	return i.machine.HandleStored(i.now(), at, rank, out)
}

// returned hands the result of a call to the machine.
func (i *incarnation) returned(res result, out []replica.Effect) []replica.Effect {
	if res.effect.Kind == replica.Hash {
		return i.machine.HandleHash(i.now(), res.effect.At, res.hash, out)
	}
	return i.machine.HandleSnapshot(i.now(), res.effect.Name, res.state, res.err, out)
}

// distribute gives each effect to the goroutine that performs it. It returns room for the
// next ones.
func (i *incarnation) distribute(out []replica.Effect) []replica.Effect {
	i.extent.publish(i.machine.Extent(), callsIn(out))
	for k := range out {
		e := &out[k]
		switch e.Kind {
		case replica.Broadcast:
			i.sends[e.Queue()].put(*e)
		case replica.Notify:
			i.tell(Event{Event: *e.Event})
		default:
			if e.Kind == replica.ApplyAll {
				i.replays.Add(int64(e.Replay.Len()))
			}
			i.calls.put(call{*e, i})
		}
	}
	full := cmp.Or(i.store.noRoom(), i.machine.Full())
	s := Status{Situation: i.machine.Situation(), View: i.machine.View(), Accepting: i.machine.Accepting() && full == nil, Full: full, Absent: i.machine.Absent(), Unreported: i.machine.Unreported()}
	s.Progress, s.Waits = i.machine.Progress()
	s.Unstored, s.Since = i.machine.Unstored()
	if s.Calls = i.status.Calls; s.View != i.status.View || s.Situation != i.status.Situation {
		s.Calls = i.extent.calls
	}
	i.setStatus(s)
	clear(out) // payloads are not kept longer than needed
	return out[:0]
}

// callsIn returns how many effects are calls of the application.
func callsIn(out []replica.Effect) (n int) {
	for i := range out {
		if k := out[i].Kind; k != replica.Broadcast && k != replica.Notify {
			n++
		}
	}
	return n
}

// send broadcasts the messages of one queue. Those of others need not wait while these wait
// for room.
func (i *incarnation) send(ctx context.Context, q *queue[replica.Effect]) error {
	for {
		e, err := q.take(ctx)
		if err != nil {
			return err
		}
		payload, err := e.Message()
		if err != nil {
			return fmt.Errorf("replicate: a snapshot: %w", err)
		}
		err = i.group.Broadcast(ctx, payload, e.Options)
		if err != nil && !errors.Is(err, broadcast.ErrNoQuorum) {
			return err
		}
	}
}
