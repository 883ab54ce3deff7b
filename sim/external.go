package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// external is what there is of external time in a world under way.
type external struct {
	*Servers
	rand     random.Stream
	honest   bool // nobody can be deceived
	waiting  []exchange
	free     []int32
	asked    []int         // how often each server was
	promised timed.Instant // by the line that was announced in the turn under way
}

// exchange is a question to a server and its answer, under way.
type exchange struct {
	server        int32
	boot          timed.BootID
	sent          timed.Instant
	arrived, left clocksync.Time
}

// utc returns UTC at a true time.
func utc(t int64) clocksync.Time { return clocksync.Time(t) }

func (w *World) newExternal(s *Servers) *external {
	o := &external{Servers: s, rand: random.New(w.seed, random.Exchanges), honest: s.Outnumbered(), asked: make([]int, len(s.List))}
	for i := range s.List {
		for id := range s.List[i].Nodes.All() {
			w.schedule(w.now+o.rand.Below(int64(s.List[i].first())), asks, int(id)-1, int32(i))
		}
	}
	return o
}

// first is within what time a node asks first.
func (s *Server) first() time.Duration {
	if s.Burst > 0 {
		return min(s.Every, burstEvery)
	}
	return s.Every
}

// shows returns what a server's clock shows at a true time.
func (s *Server) shows(t int64) clocksync.Time {
	at, x := time.Duration(t-origin), utc(t)+clocksync.Time(s.Bias)
	if at >= s.From && at < s.Until {
		x += clocksync.Time(s.Shift) + clocksync.Time(float64(at-s.From)*float64(s.Ramp)/1e9)
	}
	return x
}

// patience is how long a node waits for an answer, as those do that ask real servers.
const patience = 2 * time.Second

// delay draws the delay of a message, which has so much of the tail.
func (s *Server) delay(r random.Stream, share float64) int64 {
	d := int64(s.MinDelay) + r.Below(int64(s.Delay-s.MinDelay)+1)
	if s.Tail > 0 {
		d += r.Tail(share*float64(s.Tail), s.Index)
	}
	return d
}

// asks sends a node's question to a server.
func (w *World) asks(e event) {
	o, n := w.external, w.nodes[e.node()]
	s := &o.List[e.arg]
	o.asked[e.arg]++
	next := int64(s.Every)
	if o.asked[e.arg] < s.Burst*s.Nodes.Len() {
		next = min(next, int64(burstEvery))
	}
	w.schedule(w.now+next/2+o.rand.Below(next), asks, e.node(), e.arg)
	there, served, back := s.delay(o.rand, 1+s.Asymmetry), o.rand.Below(int64(50*time.Microsecond)), s.delay(o.rand, 1-s.Asymmetry)
	lost := o.rand.Chance(1-(1-s.Loss)*(1-s.Loss)) || there+served+back > int64(patience)
	at := time.Duration(w.now - origin)
	if !n.up || n.stalledUntil > w.now || n.upset || at >= s.Silent && at < s.Back || lost {
		return
	}
	x := exchange{server: e.arg, boot: n.boot, sent: n.tick(w.now), arrived: s.shows(w.now + there), left: s.shows(w.now + there + served)}
	var slot int32
	if k := len(o.free); k > 0 {
		slot, o.free = o.free[k-1], o.free[:k-1]
		o.waiting[slot] = x
	} else {
		slot = int32(len(o.waiting))
		o.waiting = append(o.waiting, x)
	}
	w.schedule(w.now+there+served+back, hears, e.node(), slot)
}

// answered hands the answer to the node.
func (w *World) answered(e event) {
	o, n := w.external, w.nodes[e.node()]
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+n.jitter(w), hears, e.node(), e.arg)
		return
	}
	x := o.waiting[e.arg]
	o.free = append(o.free, e.arg)
	if !n.up || n.upset && w.reincarnate(n) || x.boot != n.boot {
		return // the clock that measured the question is gone
	}
	w.events++
	now := n.tick(w.now)
	w.mix(uint64(w.now) ^ uint64(e.node())<<56 ^ uint64(x.server)<<48)
	s := clocksync.FromExchange(clocksync.SourceID(x.server+1), x.sent, now, x.arrived, x.left,
		o.List[x.server].Error, w.opt.Timing.MaxDrift)
	if w.opt.Trace != nil {
		w.trace(n, "server %d says %v ± %v", x.server+1, s.Low.Sub(utc(w.now)), s.High.Sub(s.Low)/2)
	}
	w.after(n, now, n.st.HandleSample(now, &s, w.out[:0]))
}
