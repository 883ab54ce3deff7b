package replicate

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/attach"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Prepared is an application that waits for its node, with the state of its
// [Config.Storage]. Its methods are for one goroutine at a time.
type Prepared struct {
	app  Application
	cfg  Config
	used bool // by Start or Close

	// Set by prepare, for the node of owner.
	owner   *engine.Owner // nil before
	machine replica.Config
	adapter *adapter
	store   *engine.Store // nil without a Storage
}

var (
	errUsed   = errors.New("replicate: Start or Close of Prepared was called before")
	errNoNode = errors.New("replicate: there is no node: it is nil")
)

// Prepare does the part of [Start] that needs no node. Call it before [failaware.Start], with
// the configuration of the node, and then [Prepared.Start], or [Prepared.Close] if there is
// no node. So a node with an unusable state does not appear in the group, and a node with a
// large state has it when it joins: the other nodes do not wait while Prepare runs.
//
// The errors are those of Start. If the StateDir chooses the ID of the node, Prepare only
// creates the Storage: its owner is known in Start.
func Prepare(node failaware.Config, app Application, cfg Config) (*Prepared, error) {
	node = node.WithDefaults()
	p := &Prepared{app: app, cfg: cfg}
	if node.Broadcast == nil {
		return nil, failaware.ErrBroadcastOff
	}
	if node.ID == failaware.NoNode {
		if cfg.Storage == "" {
			return p, nil
		}
		return p, engine.MakeStore(cfg.Storage)
	}
	if err := p.prepare(node); err != nil {
		return nil, err
	}
	if p.store == nil || !node.Broadcast.RequireQuorum {
		return p, nil
	}
	known, err := attach.FormerViews(node.StateDir, node.ID)
	if err == nil {
		err = p.checkViews(node, known)
	}
	if err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	return p, nil
}

// Start is [Start] for the application and the configuration of Prepare. It fails if Start
// or Close of p was called before.
func (p *Prepared) Start(node *failaware.Node) (*Replica, error) {
	if p.used {
		return nil, errUsed
	}
	p.used = true
	if node == nil {
		return nil, errors.Join(errNoNode, p.store.Close())
	}
	deliveries, err := attach.TakeDeliveries(node)
	if err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	r, stream, err := p.attach(node, deliveries)
	if err != nil {
		deliveries.Release()
		return nil, errors.Join(err, p.store.Close())
	}
	r.begin(stream)
	return r, nil
}

// Close releases the Storage. After Start it does nothing.
func (p *Prepared) Close() error {
	if p.used {
		return nil
	}
	p.used = true
	return p.store.Close()
}

// prepare makes the parts of a replica that need no node.
func (p *Prepared) prepare(node failaware.Config) error {
	c := p.cfg.machine(&node)
	if least := c.Payload(); c.MaxPayload < least { // it is no field of cfg
		return fmt.Errorf("replicate: Broadcast.MaxPayload: %d is below %d, which a member takes to say what state it has", c.MaxPayload, least)
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("replicate: invalid Config: %w", err)
	}
	quorate := node.Broadcast.RequireQuorum
	if err := checkApplication(p.app, &c, quorate); err != nil {
		return err
	}
	if p.cfg.Storage != "" && quorate && node.StateDir == "" {
		return errors.New("replicate: invalid Config: Storage: with RequireQuorum the node needs a StateDir: states are compared by the sequences of views, which must grow when it starts again")
	}
	if p.cfg.SnapshotMemory < 0 {
		return fmt.Errorf("replicate: invalid Config: SnapshotMemory: %d is negative", p.cfg.SnapshotMemory)
	}
	owner := engine.Owner{Node: node.ID, Group: node.Group, Former: node.FormerGroup, Quorate: quorate}
	keeps := p.cfg.Storage != "" && cmp.Or(p.cfg.Spool, p.cfg.Storage) == p.cfg.Storage
	a, spool := newAdapter(p.app), engine.NewSpool(cmp.Or(p.cfg.Spool, p.cfg.Storage), cmp.Or(p.cfg.SnapshotMemory, defaultMemory), keeps)
	c.NewBytes, c.NewPart = spool.NewBytes, spool.NewPart
	var store *engine.Store
	if p.cfg.Storage != "" {
		var err error
		if store, err = engine.OpenStore(p.cfg.Storage, owner, a); err != nil {
			return err
		}
		if store.Resume(spool.Part(&c)); !keeps {
			engine.RemoveParts(p.cfg.Storage) // they were kept before Spool was set
		}
	}
	if err := spool.Check(); err != nil {
		return errors.Join(err, store.Close())
	}
	p.owner, p.machine, p.adapter, p.store = &owner, c, a, store
	return nil
}

// attach makes the replica of a running node.
func (p *Prepared) attach(n *failaware.Node, d attach.Deliveries) (*Replica, *engine.Stream, error) {
	if d.Touched() {
		return nil, nil, ErrLate
	}
	node := n.Config()
	node.ID = n.ID()
	if p.owner == nil {
		if err := p.prepare(node); err != nil {
			return nil, nil, err
		}
		// The new state directory knows views by now, so the next process would not be
		// refused. RefuseStore makes the refusal permanent.
		if err := p.checkViews(node, d.Views()); err != nil {
			return nil, nil, errors.Join(err, engine.RefuseStore(p.cfg.Storage, err))
		}
	}
	if is := (engine.Owner{Node: node.ID, Group: node.Group, Former: node.FormerGroup, Quorate: node.Broadcast.RequireQuorum}); is != *p.owner {
		return nil, nil, fmt.Errorf("replicate: Prepare was called for %v, and this is %v", *p.owner, is)
	}
	var log func(hclog.Level, string, ...any)
	on := p.cfg.OnEvent
	if on == nil {
		log, on = d.Log, logEvents(d.Log)
	}
	event := func(e engine.Event) { on(eventOf(&e)) }
	var beside func(broadcast.Delivery)
	if p.cfg.OnMessage != nil {
		beside = func(d broadcast.Delivery) { p.cfg.OnMessage(messageOf(&d)) }
	}
	stream := engine.NewStream(n, d)
	p.machine.Again = d.Views() > 0
	e, err := engine.New(p.machine, stream, p.adapter, p.store, beside, event)
	if err != nil {
		return nil, nil, fmt.Errorf("replicate: %w", err)
	}
	stream.Follow(e)
	if ordered := p.store.Ordered(); len(ordered) > 0 {
		if err := d.RecallOrdered(ordered); err != nil {
			return nil, nil, err
		}
	}
	d.Keep()
	d.Guard(e.MayReplace)
	stored := p.store != nil
	if stored && node.Broadcast.RequireQuorum && p.store.View().None() && d.Views() > 0 {
		d.Log(hclog.Warn, "the directory of the state is new, and an earlier process of this node has been in views: until the others send it the state, it remembers nothing",
			"directory", p.cfg.Storage)
	}
	return &Replica{node: n, engine: e, maxPayload: node.Broadcast.MaxPayload, log: log, reach: d.Reach, broadcast: d.Submit, lasts: node.Broadcast.RequireQuorum || stored, stored: stored, done: make(chan struct{})}, stream, nil
}

// checkViews returns an error if the state on the disk is from a view that the state directory
// did not know before the node started. Later views might then have smaller sequences, by which
// states are compared, and an older state could replace a newer one.
func (p *Prepared) checkViews(node failaware.Config, known uint64) error {
	have := p.store.View()
	if have.Sequence <= known || !node.Broadcast.RequireQuorum {
		return nil
	}
	return fmt.Errorf("replicate: Storage: %w: %s has a state of view %v, but %s knows no view after sequence %d: it was lost, or is older; restore it. "+
		"If that is impossible, move both away, and let the node come back with JoinQuorum, and under a new id (docs/how-to/disasters.md says when its own is safe): it gets the state of the others",
		failaware.ErrDamaged, p.cfg.Storage, have, attach.StateFile(node.StateDir, node.ID), known)
}

// defaultMemory is the default of Config.SnapshotMemory.
const defaultMemory = 8 << 20

// machine returns the configuration of the machine for a node.
func (cfg *Config) machine(node *failaware.Config) replica.Config {
	b := node.Broadcast
	c := replica.Config{Self: failaware.Incarnation{Node: node.ID, Boot: 1}, // each incarnation has its own
		MaxSnapshot: cfg.MaxSnapshot, ChunkBytes: cfg.ChunkBytes, Rate: cfg.Rate, Window: cfg.Window,
		MaxQueued: cfg.MaxQueued, HashEvery: cfg.HashEvery, MaxPayload: b.MaxPayload}
	if b.RequireQuorum && node.StateDir != "" {
		c.Epoch = 1 // each incarnation has its own, and its quorum system
	}
	if c.ChunkBytes == 0 && b.MaxPayload >= replica.LeastPayload {
		c.ChunkBytes = min(replica.DefaultChunkBytes, b.MaxPayload-replica.ChunkOverhead)
	}
	return c
}
