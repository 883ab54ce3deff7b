package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// timeServers is the state of a world's time servers.
type timeServers struct {
	*fault.Servers
	rand      random.Stream
	exchanges []exchange // a free list: an event names one by its index
	free      []int32
	queries   []int // of each server, so far
}

// exchange is a query and its reply on the way.
type exchange struct {
	server        int32
	boot          timed.BootID
	sent          timed.Instant
	arrived, left clocksync.Time // by the server's clock
	leap          clocksync.Leap
}

// utc returns UTC at a true time.
func (w *World) utc(t int64) clocksync.Time {
	if w.servers == nil {
		return clocksync.Time(t)
	}
	return clocksync.Time(w.servers.UTC(origin, t))
}

// replyTimeout is how long a client of a server waits for its reply.
const replyTimeout = 2 * time.Second

func (w *World) newTimeServers(s *fault.Servers) *timeServers {
	x := &timeServers{Servers: s, rand: random.New(w.seed, random.Exchanges), queries: make([]int, len(s.List))}
	for i := range s.List {
		s := &s.List[i]
		first := s.Every
		if s.Burst > 0 {
			first = min(first, fault.BurstEvery)
		}
		for id := range s.Nodes.All() {
			w.schedule(w.now+x.rand.Below(int64(first)), eventQuery, int(id)-1, int32(i))
		}
	}
	return x
}

// delay draws the delay of a message, with a share of the tail.
func (x *timeServers) delay(s *fault.Server, share float64) int64 {
	d := int64(s.MinDelay) + x.rand.Below(int64(s.Delay-s.MinDelay)+1)
	if s.Tail > 0 {
		d += x.rand.Tail(share*float64(s.Tail), s.Index)
	}
	return d
}

// query sends a node's query to a server.
func (w *World) query(e event) {
	x, n := w.servers, w.nodes[e.node()]
	s := &x.List[e.arg]
	x.queries[e.arg]++
	next := int64(s.Every)
	if x.queries[e.arg] < s.Burst*s.Nodes.Len() {
		next = min(next, int64(fault.BurstEvery))
	}
	w.schedule(w.now+next/2+x.rand.Below(next), eventQuery, e.node(), e.arg)
	there := x.delay(s, 1+s.Asymmetry)
	served := x.rand.Below(int64(50 * time.Microsecond))
	back := x.delay(s, 1-s.Asymmetry)
	lost := x.rand.Chance(1-(1-s.Loss)*(1-s.Loss)) || there+served+back > int64(replyTimeout)
	at := w.Time()
	if !n.proc.Up || n.stalledUntil > w.now || n.proc.Upset || at >= s.Silent && at < s.Back || lost {
		return
	}
	shows := func(t int64) clocksync.Time {
		return clocksync.Time(x.Counts(int(e.arg), origin, t) + int64(s.ErrorAt(time.Duration(t-origin))))
	}
	slot := x.take()
	x.exchanges[slot] = exchange{server: e.arg, boot: n.proc.Boot, sent: n.tick(w.now), arrived: shows(w.now + there), left: shows(w.now + there + served),
		leap: clocksync.Leap(x.Announced(int(e.arg), time.Duration(w.now+there+served-origin)))}
	w.schedule(w.now+there+served+back, eventReply, e.node(), slot)
}

// take returns the index of a free exchange.
func (x *timeServers) take() (slot int32) {
	if k := len(x.free); k > 0 {
		slot, x.free = x.free[k-1], x.free[:k-1]
		return slot
	}
	x.exchanges = append(x.exchanges, exchange{})
	return int32(len(x.exchanges) - 1)
}

// reply delivers a server's reply to the node.
func (w *World) reply(e event) {
	x, n := w.servers, w.nodes[e.node()]
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+n.jitter(w), eventReply, e.node(), e.arg)
		return
	}
	c := x.exchanges[e.arg]
	x.free = append(x.free, e.arg)
	if !n.proc.Up || w.reincarnateIfUpset(n) || c.boot != n.proc.Boot {
		return // the incarnation that sent the query has ended
	}
	if !w.readWaiting(n) || c.boot != n.proc.Boot {
		return
	}
	w.events++
	now := n.tick(w.now)
	w.mix(uint64(w.now) ^ uint64(e.node())<<56 ^ uint64(c.server)<<48)
	s := clocksync.FromExchange(clocksync.SourceID(c.server+1), c.sent, now, c.arrived, c.left,
		x.List[c.server].Error, w.opt.Timing.MaxDrift)
	s.Leap = c.leap
	if w.opt.Trace != nil {
		w.trace(n, "server %d says %v ± %v", c.server+1, s.Low.Sub(w.utc(w.now)), s.High.Sub(s.Low)/2)
	}
	w.finishTurn(n, now, n.proc.Stack.HandleSample(now, &s, w.out[:0]))
}
