package sim

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// temper is which faults a seed has, and how hard: each class is on with
// probability one half, so that some worlds are simple enough for rare
// combinations of the others to show.
type temper struct {
	lossy, late, oneWay, split, isolate, slowLink, stall, crash, slowProcess, wander, repeat bool

	loss     float64
	lateRate float64
	lateMax  int64
	pace     float64 // mean time between faults, in units of Expires
	minDelay int64
	maxDelay int64
	slow     int64
	reboot   float64 // longest time down, in units of Expires
}

func (w *world) drawTemper() temper {
	s := w.chaos
	on := func() bool { return s.chance(0.5) }
	t := temper{lossy: on(), late: on(), oneWay: on(), split: on(), isolate: on(), slowLink: on(),
		stall: on(), crash: on(), slowProcess: on(), wander: on(), repeat: on()}
	r := w.opt.Roughness
	t.loss = min(0.6, s.unit()*0.25*r)
	t.lateRate = min(0.5, s.unit()*0.15*r)
	t.lateMax = int64(s.logUniform(1, 30) * float64(w.opt.Timing.FastThreshold))
	t.pace = s.logUniform(0.3, 4) / max(r, 0.1)
	delta := float64(w.opt.Timing.OneWayTimeout)
	t.maxDelay = int64(min(1, s.logUniform(0.02, 1.4)) * delta) // one in twelve at the limit
	t.minDelay = max(int64(w.opt.Timing.MinDelay)+100, int64(min(1, s.unit()*1.1)*float64(t.maxDelay)))
	t.slow = int64(min(1, s.unit()*1.2) * 0.95 * float64(w.opt.Timing.SchedulingDelay))
	t.reboot = s.logUniform(0.2, 10)
	return t
}

// calm makes all links work and all processes timely.
func (w *world) calm() {
	t := &w.temper
	for i := range w.links {
		for j := range w.links[i] {
			w.links[i][j] = link{min: t.minDelay, max: t.maxDelay}
		}
	}
	for _, n := range w.nodes {
		n.slow = t.slow
		if n.stalledUntil > w.now {
			n.stalledUntil = w.now
			n.wakeAt, n.armedFor = forever, timed.Never
			if n.up {
				w.arm(n, 0)
			}
		}
	}
}

func (w *world) anyNode() *node { return w.nodes[w.chaos.below(int64(len(w.nodes)))] }

// strike does one random fault, or repairs something.
func (w *world) strike() {
	t, s := &w.temper, w.chaos
	n, m := w.anyNode(), w.anyNode()
	expires := float64(w.opt.Timing.Expires)
	switch s.below(13) {
	case 0, 1:
		if t.split {
			w.split(w.drawBlocks(w.all()), s.chance(0.5))
			w.count.Splits++
		}
	case 2:
		if t.isolate {
			w.split([]timed.Set{timed.SetOf(n.id), w.all().Without(n.id)}, s.chance(0.3))
			w.count.Splits++
		}
	case 3:
		if t.oneWay {
			w.links[n.index][m.index].cut = true
		}
	case 4:
		if t.oneWay { // not transitive
			w.links[n.index][m.index].cut = true
			w.links[m.index][n.index].cut = true
		}
	case 5:
		if t.slowLink {
			w.links[n.index][m.index].slow = int64(s.unit() * 4 * float64(w.opt.Timing.FastThreshold))
		}
	case 6:
		for i := range w.links {
			for j := range w.links[i] {
				l := &w.links[i][j]
				if t.lossy {
					l.loss = t.loss
				}
				if t.late {
					l.late, l.lateMax = t.lateRate, t.lateMax
				}
				if t.repeat {
					l.twice, l.replay = t.lateRate, t.lateRate/2
				}
			}
		}
	case 7:
		if t.stall && n.up {
			w.count.Stalls++
			n.stalledUntil = max(n.stalledUntil, w.now+int64(s.logUniform(0.01, 5)*expires))
		}
	case 8, 9:
		if t.crash {
			w.crash(n)
			w.schedule(w.now+int64(s.logUniform(0.01, t.reboot)*expires), fault, n.index, 0)
		}
	case 10:
		w.links[n.index][m.index] = link{min: t.minDelay, max: t.maxDelay}
		w.links[m.index][n.index] = link{min: t.minDelay, max: t.maxDelay}
		if t.slowProcess {
			n.slow = int64(s.logUniform(0.1, 5) * float64(w.opt.Timing.SchedulingDelay))
		}
	case 11:
		w.calm()
	case 12:
		if n.up && n.stalledUntil <= w.now && n.st.Leads(n.tick(w.now)) {
			w.count.Handovers++
			now := n.tick(w.now)
			w.after(n, now, n.st.Resign(now, w.out[:0]))
		}
	}
	if t.wander {
		n.clock.bend(w.now, w.drawRate())
		w.check.rebent(n)
	}
}

// all returns the ids of the world.
func (w *world) all() timed.Set {
	var s timed.Set
	for _, n := range w.nodes {
		s.Add(n.id)
	}
	return s
}

// drawBlocks splits a set into one to four random blocks.
func (w *world) drawBlocks(of timed.Set) []timed.Set {
	blocks := make([]timed.Set, w.chaos.between(1, 4))
	for id := range of.All() {
		blocks[w.chaos.below(int64(len(blocks)))].Add(id)
	}
	out := blocks[:0]
	for _, b := range blocks {
		if !b.Empty() {
			out = append(out, b)
		}
	}
	return out
}

// split cuts the links between blocks, or makes every message across take
// longer than Δ.
func (w *world) split(blocks []timed.Set, slow bool) {
	for _, n := range w.nodes {
		for _, m := range w.nodes {
			for _, b := range blocks {
				if !b.Has(n.id) || b.Has(m.id) {
					continue
				}
				l := &w.links[n.index][m.index]
				if slow {
					l.slow = int64((1.05 + w.chaos.unit()*5) * float64(w.opt.Timing.FastThreshold))
				} else {
					l.cut = true
				}
			}
		}
	}
}

// runUntil performs events up to true time t. It returns false when a check
// has failed.
func (w *world) runUntil(t int64) bool {
	for len(w.queue.heap) > 0 && w.queue.heap[0].at <= t {
		if !w.step() {
			return false
		}
	}
	w.now = t
	w.check.live.observe(t)
	return w.check.failed == nil
}

// rage lets faults strike for some time.
func (w *world) rage(d time.Duration) bool {
	end := w.now + int64(d)
	for w.now < end {
		gap := int64(w.temper.pace * float64(w.opt.Timing.Expires) * (0.05 + 2*w.chaos.unit()))
		if !w.runUntil(min(end, w.now+gap)) {
			return false
		}
		if w.now < end && !w.opt.Calm {
			w.strike()
		}
	}
	return true
}

// heal makes the world still: random blocks of timely nodes, Δ-disconnected
// from each other. A few nodes may stay down.
func (w *world) heal() {
	w.calm()
	up := w.all()
	for _, n := range w.nodes {
		if !n.up && !w.opt.Calm && up.Len() > 1 && w.chaos.chance(0.2) {
			n.dead = true
			up.Remove(n.id)
		}
	}
	rejoin := false
	for _, n := range w.nodes {
		if !n.up && !n.dead {
			w.restart(n)
		}
		rejoin = rejoin || w.now-n.restarted < int64(w.bounds.Rejoin)
	}
	blocks := []timed.Set{up}
	if !w.opt.Calm && w.chaos.chance(0.6) {
		blocks = w.drawBlocks(up)
		w.split(blocks, w.chaos.chance(0.4))
	}
	w.check.live.begin(blocks, rejoin)
}

// revive lets the dead start again.
func (w *world) revive() {
	for _, n := range w.nodes {
		if n.dead {
			n.dead = false
			w.restart(n)
		}
	}
}
