package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// group is a group of complete nodes, a child process each, with their reports.
type group struct {
	launch Launcher
	name   string
	timing timed.Timing
	cast   *castSetup  // nil: no broadcast
	flood  *floodSetup // nil: no flood
	pages  *pagesSetup // nil: no replicated state
	key    string      // empty: packets are not sealed
	tap    *tap        // nil: nobody is on the path between nodes 1 and 2
	clock  *hwclock.Clock
	all    timed.Set

	mu      sync.Mutex
	members [timed.MaxNodes + 1]*member
	changed chan struct{} // closed at the next report
}

// member is one node of the group.
type member struct {
	child *child
	addr  string
	log   []state // its reports, oldest first
	err   error
}

func newGroup(launch Launcher, nodes int, timing timed.Timing) (*group, error) {
	if nodes < 2 || nodes > timed.MaxNodes {
		return nil, fmt.Errorf("bench: a group has 2 to %d nodes", timed.MaxNodes)
	}
	clock, err := hwclock.New()
	if err != nil {
		return nil, err
	}
	g := &group{launch: launch, timing: timing, clock: clock, changed: make(chan struct{}),
		name: fmt.Sprintf("bench %x", uint64(randomBoot()))}
	for id := range nodes {
		g.all.Add(timed.NodeID(id + 1))
	}
	return g, nil
}

// startAll starts all nodes and introduces them to each other.
func (g *group) startAll(ctx context.Context) error {
	for id := range g.all.All() {
		if err := g.start(id, "127.0.0.1:0", nil); err != nil {
			return err
		}
	}
	err := g.wait(ctx, answerWait, func() bool {
		for id := range g.all.All() {
			if g.members[id].addr == "" {
				return false
			}
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("%w: the nodes did not start", err)
	}
	if g.tap != nil {
		if err := g.tap.open(g, 1, 2); err != nil {
			return err
		}
	}
	for id := range g.all.All() {
		list := g.addresses()
		if g.tap != nil {
			g.tap.between(id, list)
		}
		g.members[id].child.tell(command{Do: doPeers, Peers: list})
	}
	return nil
}

func (g *group) addresses() (list []address) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.all.All() {
		if m := g.members[id]; m != nil && m.addr != "" {
			list = append(list, address{id, m.addr})
		}
	}
	return list
}

// start starts one node.
func (g *group) start(id timed.NodeID, listen string, peers []address) error {
	m := new(member)
	g.mu.Lock()
	g.members[id] = m
	g.mu.Unlock()
	j := &job{Kind: nodeJob, ID: id, Group: g.name, Listen: listen, Timing: g.timing, Peers: peers, Cast: g.cast, Flood: g.flood, Pages: g.pages, Key: g.key}
	c, err := g.launch.start(j, func(r *report) { g.take(m, r) })
	if err != nil {
		return err
	}
	g.mu.Lock()
	m.child = c
	g.mu.Unlock()
	return nil
}

// take takes a report.
func (g *group) take(m *member, r *report) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case r.Addr != "":
		m.addr = r.Addr
	case r.State != nil:
		m.log = append(m.log, *r.State)
	case r.Fatal != "":
		m.err = errors.New(r.Fatal)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

// wait waits until cond holds, which is evaluated under the lock after every
// report.
func (g *group) wait(ctx context.Context, patience time.Duration, cond func() bool) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		g.mu.Lock()
		ok, changed := cond(), g.changed
		var err error
		for id := range g.all.All() {
			if m := g.members[id]; m != nil && m.err != nil {
				err = fmt.Errorf("bench: node %v: %w", id, m.err)
			}
		}
		g.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return errPatience
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errPatience = errors.New("bench: not in time")

// latest returns the latest state of a node, under the lock.
func (g *group) latest(id timed.NodeID) state {
	if m := g.members[id]; m != nil && len(m.log) > 0 {
		return m.log[len(m.log)-1]
	}
	return state{}
}

// whole reports whether all nodes have one leader and one fresh view of all, and hear each
// other. The caller holds mu.
func (g *group) whole() bool {
	first := g.latest(g.all.Min())
	for id := range g.all.All() {
		s := g.latest(id)
		if !s.Held || s.Leader != first.Leader || !s.Fresh || s.View != first.View || s.Members != g.all ||
			s.Alive.Len() != g.all.Len()-1 {
			return false
		}
	}
	return true
}

// untilWhole waits until the group has been whole for three election periods.
func (g *group) untilWhole(ctx context.Context) error {
	for calm := false; !calm; {
		if err := g.wait(ctx, 20*time.Second, g.whole); err != nil {
			return fmt.Errorf("%w: one leader and one fresh view of all; %s", err, g.describe())
		}
		err := g.wait(ctx, 3*g.timing.ElectionPeriod, func() bool { return !g.whole() })
		if err != nil && !errors.Is(err, errPatience) {
			return err
		}
		calm = err != nil
	}
	return nil
}

// describe returns the latest report of each node as text.
func (g *group) describe() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for id := range g.all.All() {
		s := g.latest(id)
		fmt.Fprintf(&b, "node %v: leader %v (held %v), view %v of %v (fresh %v), alive %v; ", id, s.Leader, s.Held, s.View,
			s.Members, s.Fresh, s.Alive)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// leader returns the leader, and whether the group is whole now.
func (g *group) leader() (id timed.NodeID, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.latest(g.all.Min()).Leader, g.whole()
}

// calm returns the leader at a random moment at which the group is whole and at rest, so that
// all phases of the leader's period are equally likely. After a node has started, all exchange
// settings and addresses, at any moment of the period.
func (g *group) calm(ctx context.Context) (leader timed.NodeID, err error) {
	for {
		if err := g.untilWhole(ctx); err != nil {
			return timed.NoNode, err
		}
		g.forget()
		time.Sleep(3*g.timing.Expires + rand.N(2*g.timing.ElectionPeriod))
		if id, ok := g.leader(); ok {
			return id, nil
		}
	}
}

// port returns the UDP port of a node.
func (g *group) port(id timed.NodeID) uint16 {
	at, _ := g.address(id)
	return at.Port()
}

// address returns the UDP address of a node that has started.
func (g *group) address(id timed.NodeID) (netip.AddrPort, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return netip.ParseAddrPort(g.members[id].addr)
}

// crash kills a node, and returns the instant just before.
func (g *group) crash(id timed.NodeID) timed.Instant {
	at := g.clock.Now()
	g.members[id].child.crash()
	return at
}

// restart starts a crashed node again at its address.
func (g *group) restart(id timed.NodeID) error {
	m := g.members[id]
	<-m.child.over
	return g.start(id, m.addr, g.addresses())
}

// forget drops all reports except the latest state of each node.
func (g *group) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.all.All() {
		if m := g.members[id]; m != nil && len(m.log) > 1 {
			m.log = append(m.log[:0], m.log[len(m.log)-1])
		}
	}
}

// tell sends nodes a command that needs no answer.
func (g *group) tell(ids timed.Set, c command) {
	for id := range ids.All() {
		g.members[id].child.tell(c)
	}
}

// askAll sends a command to nodes at the same time, and returns the answers.
func (g *group) askAll(ids timed.Set, make func(timed.NodeID) command) (map[timed.NodeID]*reply, error) {
	waits := map[timed.NodeID]func() (*reply, error){}
	for id := range ids.All() {
		waits[id] = g.members[id].child.ask(make(id))
	}
	answers := map[timed.NodeID]*reply{}
	for id := range ids.All() {
		r, err := waits[id]()
		if err != nil {
			return nil, fmt.Errorf("node %v: %w", id, err)
		}
		answers[id] = r
	}
	return answers, nil
}

// stop stops all nodes.
func (g *group) stop() {
	var done sync.WaitGroup
	for id := range g.all.All() {
		if m := g.members[id]; m != nil && m.child != nil {
			done.Go(m.child.stop)
		}
	}
	done.Wait()
}
