package campaign

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// In a world of room every node fills its window with small messages of some options, and
// has a payload besides that it tries to broadcast again and again. After the random faults
// each payload must get its room in time.

const (
	// roomRage is how long random faults strike, roomCalm how long the promise is judged.
	roomRage = time.Second
	roomCalm = 1500 * time.Millisecond

	// TookRoom is the situation that a payload got its room after others had been refused.
	TookRoom = "a payload waited for room"
)

// roomWorld is a seed under way.
type roomWorld struct {
	random.Stream
	w      *sim.World
	config broadcast.Config
	flood  []broadcast.Options
	small  float64 // the largest size of a small message
	least  time.Duration
	within time.Duration // a payload gets its room when the world is calm
	calm   bool
	late   *sim.Violation
}

// playRoom plays a seed. It is a [sim.Campaign.Play].
func playRoom(seed uint64, o sim.Options) (sim.Result, error) {
	r := &roomWorld{Stream: random.New(seed, random.Apps<<8)}
	o.Nodes, o.Roughness, o.Duration = int(r.Between(2, 6)), r.LogUniform(0.5, 4), roomRage
	o.Without = []fault.Class{fault.ClassRival, fault.ClassClone}
	r.draw(o.Nodes)
	o.Broadcast = &sim.Broadcast{Config: &r.config, Quiet: true}
	o.App = func(w *sim.World) sim.App {
		r.w = w
		return sim.App{Start: r.start, Invariants: []sim.Invariant{{Name: "room", Check: r.err}}}
	}
	c, err := sim.CaseOf(seed, o)
	if err != nil {
		return sim.Result{}, err
	}
	if r.w, err = c.World(); err != nil {
		return sim.Result{}, err
	}
	b, _ := timed.LAN().Validate()
	if r.w.Run(roomRage) == nil {
		r.w.Mend()
		if r.w.Run(b.View+b.Rejoin+timed.LAN().Expires) == nil {
			r.calm = true
			_ = r.w.Run(roomCalm) // the result has what went wrong
		}
	}
	return r.w.Result(), nil
}

// draw draws windows, payloads that may need all of them, and what fills them.
func (r *roomWorld) draw(nodes int) {
	c := &r.config
	c.Window, c.PacketBytes = int(r.LogUniform(broadcast.MinWindow, 1<<16)), int(r.LogUniform(256, 1400))
	share := c.Window / nodes
	c.MaxPayload = int(r.LogUniform(float64(share)/2, float64(c.Window)))
	c.MaxMessages = c.MaxPayload/c.PacketBytes + 1 + int(r.LogUniform(16, 256))
	c.Backlog = 1 << 20
	all := fault.AllOptions()
	for range r.Between(1, 3) {
		r.flood = append(r.flood, all[r.Below(int64(len(all)))])
	}
	r.small, r.least = max(20, float64(share)/20), time.Duration(r.LogUniform(2e5, 2e6))
	r.within = 10 * timed.LAN().Expires
}

// caller is what the processes of a node broadcast.
type caller struct {
	r       *roomWorld
	n       *sim.Node
	size    int // of the payload that waits
	opt     broadcast.Options
	since   time.Duration // it has waited in the present view of a calm world; 0: not yet
	refused bool
}

func (r *roomWorld) start(n *sim.Node) sim.Handlers {
	c := &caller{r: r, n: n}
	c.next()
	c.call()
	return sim.Handlers{Broadcast: sim.BroadcastHandlers{Entered: func(*membership.View) { c.since = 0 }}}
}

// next draws the next payload that waits.
func (c *caller) next() {
	all := fault.AllOptions()
	c.size, c.opt = c.r.config.MaxPayload, all[c.r.Below(int64(len(all)))]
	if c.r.Chance(0.3) {
		c.size = int(c.r.LogUniform(c.r.small, float64(c.size)))
	}
	c.since, c.refused = 0, false
}

// call fills the window and then tries the payload, again and again.
func (c *caller) call() {
	c.n.After(c.r.least+time.Duration(c.r.Below(int64(c.r.least))), func() {
		for range c.r.config.MaxMessages {
			opt := c.r.flood[c.r.Below(int64(len(c.r.flood)))]
			if _, err := c.n.Broadcast(make([]byte, int(c.r.LogUniform(16, c.r.small))), opt); err != nil {
				break
			}
		}
		c.try()
		c.call()
	})
}

// try tries to broadcast the payload, and judges how long it has waited.
func (c *caller) try() {
	_, err := c.n.Broadcast(make([]byte, c.size), c.opt)
	_, fresh := c.n.View()
	now := c.r.w.Time()
	switch {
	case err == nil:
		if c.refused {
			c.r.w.Sometimes(TookRoom)
		}
		c.next()
	case !errors.Is(err, broadcast.ErrWindowFull) || !fresh || !c.r.calm:
		c.since = 0
	case c.since == 0:
		c.since, c.refused = now, true
	case now-c.since > c.r.within && c.r.late == nil:
		c.r.late = &sim.Violation{Check: "room", Node: c.n.ID(),
			Detail: fmt.Sprintf("a payload of %d bytes (%v %v) has waited for room for %v", c.size, c.opt.Order, c.opt.Atomicity, now-c.since)}
	}
}

// err is the invariant that ends the run.
func (r *roomWorld) err() error {
	if r.late == nil {
		return nil
	}
	return r.late
}
