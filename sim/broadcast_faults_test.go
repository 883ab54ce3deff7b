package sim

import (
	"container/heap"
	"time"

	"github.com/failaware/failaware/timed"
)

// draw draws how hard the faults of a seed are.
func (w *castWorld) draw() {
	t := &w.temper
	on := func() bool { return w.chance(0.6) }
	if on() {
		t.loss = w.rng.Float64() * 0.4
	}
	if on() {
		t.late = w.rng.Float64() * 0.3
	}
	if on() {
		t.twice, t.replay = w.rng.Float64()*0.2, w.rng.Float64()*0.1
	}
	if w.opt.lossless {
		t.loss, t.late = 0, 0
	}
	t.lateMax = int64(w.log(1, 20) * float64(10*time.Millisecond))
	t.minDelay = 20_000
	t.maxDelay = int64(w.log(100_000, 4_800_000))
	t.split, t.crash, t.stall, t.deafen = on(), on() && !w.opt.noCrash, on(), on()
	t.pace = w.log(0.3, 3) * float64(100*time.Millisecond)
	t.reboot = w.log(1, 300) * float64(time.Millisecond)
	t.orders, t.atomicities = []uint8{1}, []uint8{0}
	if on() {
		t.orders = append(t.orders, 0)
	}
	if w.opt.timed {
		t.orders = append(t.orders, 2)
	}
	if on() {
		t.atomicities = append(t.atomicities, 1)
	}
	if on() {
		t.atomicities = append(t.atomicities, 2)
	}
	t.rate = w.log(5, 400)
	if w.opt.rate > 0 {
		t.rate = w.opt.rate
	}
	t.packet = 256
	t.maxPayload = 64
	if w.opt.large || w.chance(0.3) {
		t.maxPayload = 2000
	}
	t.window = int(w.log(1<<13, 1<<18))
	t.backlog = 1 << 20
	if w.opt.slow {
		t.backlog, t.window = 2000, 1<<13
	}
}

// strike does one fault.
func (w *castWorld) strike() {
	t := &w.temper
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	switch w.rng.IntN(9) {
	case 0, 1:
		if t.split {
			side := w.rng.Uint64()
			for i := range w.cut {
				for j := range w.cut {
					w.cut[i][j] = side>>i&1 != side>>j&1
				}
			}
		}
	case 2:
		w.mend()
	case 3:
		t.lossNow, t.lateNow, t.twiceNow, t.replayNow = t.loss, t.late, t.twice, t.replay
	case 4:
		if t.stall && n.up {
			n.stall = w.now + int64(w.log(1, 400)*float64(time.Millisecond))
		}
	case 5, 6:
		if t.crash && n.up {
			w.crash(n, int64(w.log(0.01, 1)*t.reboot))
		}
	case 7:
		if t.deafen {
			w.cut[w.rng.IntN(len(w.nodes))][n.id-1] = true
		}
	case 8:
		if w.opt.slow {
			n.lazy = w.now + int64(w.log(1, 500)*float64(time.Millisecond))
			w.schedule(n.lazy, func() {
				if n.up && n.stall <= w.now {
					w.act(n)
				}
			})
		}
	}
}

func (w *castWorld) mend() {
	for i := range w.cut {
		clear(w.cut[i])
	}
}

func (w *castWorld) runUntil(at int64) {
	for len(w.queue) > 0 && w.queue[0].at <= at && w.failed == nil {
		e := heap.Pop(&w.queue).(castEvent)
		w.now = e.at
		e.f()
	}
	w.now = max(w.now, at)
}

// castRun lets faults strike, then heals the world, waits, and demands that
// nothing is open.
func castRun(seed uint64, opt castOptions) error {
	w := newCastWorld(seed, opt)
	t := &w.temper
	end := w.now + int64(opt.rage)
	w.runUntil(w.now + int64(300*time.Millisecond))
	for w.now < end && w.failed == nil {
		w.runUntil(w.now + int64(t.pace*(0.05+2*w.rng.Float64())))
		if !opt.gentle {
			w.strike()
		}
	}
	w.mend()
	for _, n := range w.nodes {
		n.stall, n.lazy = 0, 0
	}
	w.runUntil(w.now + int64(400*time.Millisecond))
	w.done = 1 // nobody broadcasts any more, and what is lost last is lost
	w.runUntil(w.now + int64(time.Millisecond))
	t.lossNow, t.lateNow, t.twiceNow, t.replayNow = 0, 0, 0, 0
	w.runUntil(w.now + int64(3500*time.Millisecond))
	if w.failed != nil {
		return w.failed
	}
	var running []timed.Incarnation
	for _, n := range w.nodes {
		if v := n.st.Cast().View(); !n.up || v == nil || v.Set != w.group() || n.st.Cast().Frozen() {
			w.check.fail("liveness", n.id, "is not in a view of all at the end: %v, frozen %v", v, n.st.Cast().Frozen())
			return w.failed
		}
		running = append(running, n.inc)
	}
	w.check.settled(running)
	return w.failed
}
