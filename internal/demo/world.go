package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/why"
	"github.com/failaware/failaware/timed"
)

// World holds the nodes, and the relay between them. All methods are safe for concurrent
// use.
type World struct {
	preset  string
	timing  failaware.Timing
	bounds  failaware.Bounds
	began   time.Time
	relay   *Relay
	journal *journal
	history *history
	watch   *watch
	busy    *busyness
	talk    bool

	doing   sync.Mutex // one fault at a time
	mu      sync.Mutex // guards the following
	members []*member  // node id at id − 1

	stop  context.CancelFunc
	ctx   context.Context
	tasks sync.WaitGroup
}

// member is the place of a node, with its process, if any.
type member struct {
	id     failaware.NodeID
	life   *life // nil: crashed
	paused bool
	since  time.Time // of the last change of the fields above
}

// life is one process, from its start to its crash.
type life struct {
	node *failaware.Node
	gate *pause.Gate
	last atomic.Pointer[failaware.Status]
	traffic
	causes *why.Record
}

// Options configure a demonstration.
type Options struct {
	Nodes  int    // 2 to MaxNodes
	Preset string // "local", "lan" or "wan"
	Talk   bool   // the nodes broadcast messages all the time
}

// Check returns an error if the options are invalid.
func (o Options) Check() error {
	if o.Nodes < 2 || o.Nodes > MaxNodes {
		return fmt.Errorf("--nodes: %d is outside 2 to %d", o.Nodes, MaxNodes)
	}
	if _, err := timed.Preset(o.Preset); err != nil {
		return fmt.Errorf("--preset: %w", err)
	}
	return nil
}

// NewWorld opens the relay. The nodes do not run yet.
func NewWorld(o Options) (*World, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	timing, _ := timed.Preset(o.Preset)
	bounds, err := timing.Validate()
	if err != nil {
		return nil, err
	}
	relay, err := NewRelay(o.Nodes)
	if err != nil {
		return nil, fmt.Errorf("cannot open the relay between the nodes: %w", err)
	}
	w := &World{preset: o.Preset, timing: timing, bounds: bounds, began: time.Now(), relay: relay, journal: newJournal(),
		history: newHistory(), talk: o.Talk, busy: &busyness{window: bounds.Notice + bounds.Depose}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	for id := range o.Nodes {
		w.members = append(w.members, &member{id: failaware.NodeID(id + 1), since: w.began})
	}
	w.watch = &watch{world: w}
	w.tasks.Go(func() { w.watch.run(w.ctx) })
	w.tasks.Go(func() { w.sample(w.ctx) })
	return w, nil
}

// Close ends everything.
func (w *World) Close() error {
	w.doing.Lock()
	defer w.doing.Unlock()
	w.stop()
	var closing sync.WaitGroup
	for id := range w.All().All() {
		if l := w.vacate(id); l != nil {
			closing.Go(l.kill)
		}
	}
	closing.Wait()
	w.tasks.Wait()
	return w.relay.Close()
}

// All returns all ids.
func (w *World) All() (s failaware.Set) {
	for _, m := range w.members {
		s.Add(m.id)
	}
	return s
}

// StartAll starts all nodes.
func (w *World) StartAll() error {
	var errs []error
	for id := range w.All().All() {
		errs = append(errs, w.Start(id))
	}
	return errors.Join(errs...)
}

// Start starts a node that is not running.
func (w *World) Start(id failaware.NodeID) error {
	w.doing.Lock()
	defer w.doing.Unlock()
	if w.lifeOf(id) != nil {
		return nil
	}
	var peers []failaware.Peer
	for other := range w.All().Without(id).All() {
		peers = append(peers, failaware.Peer{ID: other, Addr: w.relay.Address(id, other).String()})
	}
	l := &life{gate: pause.New()}
	cfg := failaware.Config{ID: id, Group: "demo", Peers: peers, Timing: w.timing, RaiseProcs: true}
	if w.talk {
		cfg.Broadcast = &failaware.BroadcastConfig{}
	}
	node, err := failaware.Start(pause.With(w.ctx, l.gate), cfg)
	if err != nil {
		return fmt.Errorf("node %v: %w", id, err)
	}
	l.node, l.causes = node, why.NewRecord(node.Config().Timing, node.Bounds())
	w.relay.SetHome(id, node.Addr())
	w.mu.Lock()
	m := w.members[id-1]
	m.life, m.paused, m.since = l, false, time.Now()
	w.mu.Unlock()
	w.busy.act()
	w.tasks.Go(func() {
		for e := range node.EventsSince(w.ctx, 0) {
			w.journal.event(time.Since(w.began), id, e)
			w.history.add(happening{at: e.Head().Time, node: id, event: e})
			l.causes.Note(e)
			w.busy.note(e)
		}
	})
	if w.talk {
		w.tasks.Go(func() { l.traffic.run(w.ctx, node) })
	}
	return nil
}

// kill ends a process as SIGKILL would.
func (l *life) kill() {
	l.gate.Kill()
	_ = l.node.Close()
}

// vacate removes the process from a place.
func (w *World) vacate(id failaware.NodeID) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.members[id-1]
	l := m.life
	if l != nil {
		m.life, m.paused, m.since = nil, false, time.Now()
	}
	return l
}

func (w *World) lifeOf(id failaware.NodeID) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.members[id-1].life
}

// Node returns the running node at a place, or nil.
func (w *World) Node(id failaware.NodeID) *failaware.Node {
	if l := w.lifeOf(id); l != nil {
		return l.node
	}
	return nil
}

// place is a copy of World's knowledge of a node.
type place struct {
	member
	status *failaware.Status // the latest; nil if there is none yet
}

func (w *World) places() []place {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]place, 0, len(w.members))
	for _, m := range w.members {
		p := place{member: *m}
		if m.life != nil {
			p.status = m.life.last.Load()
		}
		all = append(all, p)
	}
	return all
}

// sampleEvery is the interval of asking nodes for their status.
const sampleEvery = 50 * time.Millisecond

// sample keeps the latest status of all nodes. A node whose loop is stuck delays no
// other: each has its own goroutine, with one question at a time.
func (w *World) sample(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	var asking [MaxNodes + 1]atomic.Bool
	for {
		w.blameMachine()
		for _, p := range w.places() {
			if l := p.life; l != nil && !p.paused && !asking[p.id].Swap(true) {
				w.tasks.Go(func() {
					defer asking[p.id].Store(false)
					if s := l.node.Status(); s.Age >= 0 {
						w.busy.served(late(l.last.Swap(&s), &s))
					}
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
