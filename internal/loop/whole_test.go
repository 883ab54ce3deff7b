package loop

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// await queues a message for whose outcome a caller waits.
func await(t testing.TB, l *Loop) (*sendqueue.Waiter, broadcast.ID) {
	w := l.Sends().NewWaiter()
	l.driver.mu.Lock() // no caller takes a turn
	defer l.driver.mu.Unlock()
	id, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("a word"), broadcast.Options{}, w.Queued, true)
	require.NoError(t, err)
	return w, id
}

// tellsAll has the broadcast say something in every field of what it tells. The application,
// and the caller who waits for a message, hear all of it.
func tellsAll(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	w, id := await(t, l)
	var x broadcast.Delivery
	leftover.Fill(&x, "home") // where the broadcast has the payload
	x.ID = id
	takeAll(l)
	d.deliver(&broadcast.Effect{Kind: broadcast.Deliver, View: d.stack.Membership().View(), Deliveries: []broadcast.Delivery{x}})
	v := &membership.View{ID: membership.ViewID{Sequence: 9}, Set: timed.SetOf(1), Members: []membership.Member{{Incarnation: d.cfg.Self, Previous: membership.ViewID{Sequence: 8}}}}
	d.deliver(&broadcast.Effect{Kind: broadcast.Installed, View: v, Base: []broadcast.Mark{{Node: 3}}})
	d.commitMessages()
	require.Len(t, w.Result, 1)
	o := <-w.Result
	require.Empty(t, leftover.Differ(&x, &o.Message, "Payload", "Flushed", "home"), "a caller hears what the outcome was")
	require.NotNil(t, o.View)
	items, _, _ := l.Deliveries().Borrow(10)
	require.Len(t, items, 2)
	require.Empty(t, leftover.Differ(&x, &items[0].Message))
	require.Equal(t, deliveryqueue.Change{Previous: membership.ViewID{Sequence: 8}, Along: timed.SetOf(1), Merged: v.Merged(), Base: []broadcast.Mark{{Node: 3}}}, *items[1].Change)
}

func TestTheApplicationHearsAllThatIsTold(t *testing.T) { tellsAll(t) }

// lastOutcomes has a message delivered in the turn in which the loop ends. The caller who waits
// for it learns that it was delivered, and not that the node has stopped.
func lastOutcomes(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	w, id := await(t, l)
	d.deliver(&broadcast.Effect{Kind: broadcast.Deliver, View: d.stack.Membership().View(), Deliveries: []broadcast.Delivery{{ID: id}}})
	d.mu.Lock()
	d.finish()
	require.Equal(t, sendqueue.NotLost, (<-w.Result).Lost)
}

func TestTheLastOutcomesAreTold(t *testing.T) { lastOutcomes(t) }

// leavesBetween has a node leave while no incarnation can begin. Nothing binds others to it.
func leavesBetween(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	d.life.JudgeRate(life.RateBeyond)
	d.restart(life.ClockRate, d.clock.now, d.clock.era)
	l.Leave(false)
	c.advance(time.Second)
	d.turn(nil, l.cfg.Clock.Read())
	require.Nil(t, d.stack)
	require.True(t, d.life.Over())
}

func TestANodeMayLeaveBetweenTwoIncarnations(t *testing.T) { leavesBetween(t) }

// holdsOfOneLead has a node promise twice during a lead. Both promises say when it began.
func holdsOfOneLead(t testing.TB) {
	l, c := newLoop(nil)
	for !l.Snapshot().Leading {
		step(l, c)
	}
	since := l.Snapshot().Phase.Since
	for range 3 {
		h := l.driver.hold(false)
		require.NotNil(t, h)
		require.Equal(t, since, h.Since)
		require.Equal(t, l.Snapshot().Self, h.By)
		step(l, c)
	}
	require.Greater(t, l.driver.clock.now, since)
}

func TestHoldsNameTheirLead(t *testing.T) { holdsOfOneLead(t) }

// holdsOfAGlobalLead has a node asked for a promise about a global lead that readers still know
// of. Its votes for the local lead stand for none.
func holdsOfAGlobalLead(t testing.TB) {
	l, c := newLoop(nil)
	for !l.Snapshot().Leading {
		step(l, c)
	}
	s := *l.driver.pub.current
	s.Global, s.GlobalUntil, s.GlobalPhase = true, timed.Never, &Phase{Leads: true}
	l.driver.pub.current = &s
	require.Nil(t, l.driver.hold(true))
	require.NotNil(t, l.driver.hold(false))
}

func TestAHoldIsOfTheLeadThatItNames(t *testing.T) { holdsOfAGlobalLead(t) }

// countsGrow ends an incarnation whose every counter has counted. None begins anew.
func countsGrow(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	leftover.Fill(&d.count, "dropped", "cast")
	leftover.Fill(&d.stack.Dropped)
	leftover.Fill(&d.stack.BroadcastState().Dropped)
	before := d.counters()
	for _, x := range before {
		require.NotZero(t, x.Value, x.Name)
	}
	for range 2 {
		d.restart(life.Suspended, d.clock.now, d.clock.era)
		require.Equal(t, before, d.counters())
		d.begin()
		require.Equal(t, before, d.counters())
	}
}

func TestCountersOutliveIncarnations(t *testing.T) { countsGrow(t) }

// lastStatus ends a loop that knows of a peer and acts late. Its last status says all that
// the one before does.
func lastStatus(t testing.TB) {
	l, o := newOutside(nil)
	o.takes(t, l, nil, at(70), 1, nothing)
	d := l.driver
	d.stack.Election().NoteLate(d.clock.now)
	want := d.status()
	require.True(t, want.Late)
	d.mu.Lock()
	d.finish()
	require.Equal(t, want, l.Status())
}

func TestTheLastStatusIsWhole(t *testing.T) { lastStatus(t) }

// Each packet that comes between two incarnations is counted.
func TestEarlyPacketsAreCountedOneByOne(t *testing.T) {
	l, _ := newLoop(nil)
	require.Nil(t, l.driver.stack)
	l.driver.receive(make([]udp.Packet, 3))
	l.driver.receive(make([]udp.Packet, 2))
	require.EqualValues(t, 5, l.driver.count.early)
}

// asksAnew has a caller ask a peer. Answers to what others asked before are too old for it.
func asksAnew(t testing.TB) {
	l, o := newOutside(nil)
	o.takes(t, l, nil, at(70), 1, nothing)
	d := l.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	result := make(chan Assurance, 1)
	for range 2 { // the caller asks again until it has an answer
		d.askPeer(7, result)
	}
	require.Len(t, d.asked, 1)
	require.Equal(t, d.clock.now, d.asked[0].since)
}

func TestAQuestionCountsFromWhenItIsAsked(t *testing.T) { asksAnew(t) }

// A loop may fail twice in a turn. The first error says why.
func TestTheFirstFailureEndsALoop(t *testing.T) {
	l, _ := newTestLoop(t)
	first := errors.New("no space")
	l.driver.fail(first, false)
	l.driver.fail(errors.New("it is over"), true)
	require.ErrorIs(t, l.driver.failure, first)
}

// A turn leaves none of its packets to the next one, whose memory would grow with each.
func TestATurnGathersNothingForTheNext(t *testing.T) {
	l, c := newTestLoop(t)
	o := &l.driver.out
	o.tails, o.used = []*tail{{}, {}}, 2
	l.driver.greetAt(2, at7(2))
	written := c.written
	o.send(l.cfg.Clock, l.cfg.Conn)
	require.Equal(t, written+2, c.written)
	require.Zero(t, o.used)
	o.send(l.cfg.Clock, l.cfg.Conn)
	require.Equal(t, written+2, c.written)
}

// Whoever waits for a turn that never comes hears that the loop has ended.
func TestCommandsEndWithTheLoop(t *testing.T) {
	l, _ := newTestLoop(t)
	said := make(chan error)
	go func() { said <- l.Resign(context.Background(), timed.NoNode) }()
	for !l.commands.Pending() {
		runtime.Gosched()
	}
	l.driver.mu.Lock()
	l.driver.finish()
	select {
	case err := <-said:
		require.ErrorIs(t, err, ErrClosed)
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for ever")
	}
}

// brokenConn is a connection whose socket has become unusable.
type brokenConn struct{ *fakeConn }

func (brokenConn) ReadBatch([]udp.Packet, timed.Instant) (int, error) { return 0, errBroken }

var errBroken = errors.New("the socket is broken")

func TestALoopSaysThatItsSocketIsBroken(t *testing.T) {
	l, _ := newLoop(func(cfg *Config) { cfg.Conn = brokenConn{cfg.Conn.(*fakeConn)} })
	l.Run()
	<-l.Done()
	require.Equal(t, errBroken, l.Err())
}

// A caller that gives up hears why.
func TestTheCauseOfAContextIsTold(t *testing.T) {
	l, _ := newTestLoop(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	require.Equal(t, errBroken, l.Resign(ctx, timed.NoNode))
}
