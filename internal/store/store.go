package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// hashEvery is after how many ordered messages members compare their states. It is the
// same at all nodes of one build. Whoever changes what a hash is of takes another prime
// number, so that builds which hash in two ways do not compare states (it was 4096, and 4099 in
// builds whose leases begin by any command).
const hashEvery = 4111

// Config configures a store.
type Config struct {
	Kind kv.Kind
	// Dir, if not empty, is the directory that keeps the state.
	Dir string
	// LeasedReads has reads of the latest state send no message where the lease of the
	// view allows it ([replicate.Replica.ReadLeased]).
	LeasedReads bool
	// OnEvent is called with the events of the state, if it is not nil. It must not block.
	OnEvent func(replicate.Event)
	// Trace keeps the instants of operations for clients of the API.
	Trace bool
}

// Store is the store of a node. It implements [api.Store].
type Store struct {
	cfg     Config
	node    *failaware.Node
	replica *replicate.Replica
	app     *application
	writer  uint64        // in the dots of this process
	number  atomic.Uint64 // of its last command
	counted counted
	// log has the messages of clients and, with Trace, the operations.
	log *api.StoreLog
	// mixed is the last view with a member of another build, or nil.
	mixed atomic.Pointer[failaware.ViewID]
	// obstacle is why the latest snapshot that this view needs was not made, or nil.
	obstacle atomic.Pointer[string]
	// begun is what was said when the state began without some that were acknowledged, or nil.
	begun  atomic.Pointer[string]
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

var _ api.Store = (*Store)(nil)

// Prepared is a store that waits for its node.
type Prepared struct {
	store   *Store
	replica *replicate.Prepared
}

// Prepare does what a start does without the node, before the node starts with a
// configuration: it reads the state of the directory. Then call [Prepared.Start], or
// [Prepared.Close] if there is no node. The errors are [ErrKind] and those of
// [replicate.Prepare].
func Prepare(node failaware.Config, cfg Config) (*Prepared, error) {
	unknown := func() failaware.Reading { return failaware.Reading{} }
	s := &Store{cfg: cfg, app: &application{state: kv.New(cfg.Kind), clock: unknown}, writer: newWriter(), log: api.NewStoreLog()}
	s.counted.events = noEvents()
	if cfg.Trace {
		s.app.keep = s.log.Add
	}
	if cfg.Dir != "" { // before the state is read, which may be that of the other kind
		if _, err := checkKind(cfg.Dir, cfg.Kind); errors.Is(err, ErrKind) {
			return nil, fmt.Errorf("replicate: Storage: %w", err)
		}
	}
	r, err := replicate.Prepare(node, s.app, replicate.Config{Storage: cfg.Dir, HashEvery: hashEvery, OnEvent: s.noteEvent, OnMessage: s.noteMessage})
	if err != nil {
		return nil, err
	}
	if cfg.Dir != "" {
		if err := noteKind(cfg.Dir, cfg.Kind); err != nil {
			return nil, errors.Join(fmt.Errorf("replicate: Storage: %w", err), r.Close())
		}
	}
	return &Prepared{s, r}, nil
}

// Start starts the store of a node with broadcast, right after the node has started. A
// linearizable store needs [failaware.BroadcastConfig.RequireQuorum], and a partitionable
// one must not have it. The errors are those of [replicate.Start].
func (p *Prepared) Start(n *failaware.Node) (*Store, error) {
	s := p.store
	if b := n.Config().Broadcast; b != nil && b.RequireQuorum != (s.cfg.Kind == kv.Linearizable) {
		return nil, errors.Join(fmt.Errorf("a store that is %v contradicts Broadcast.RequireQuorum: %v", s.cfg.Kind, b.RequireQuorum), p.Close())
	}
	s.node, s.app.clock = n, n.Clock
	var err error
	if s.replica, err = p.replica.Start(n); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.ended.Go(func() { s.endLeases(ctx) })
	return s, nil
}

// Close gives the directory free. After Start, or of nil, it does nothing.
func (p *Prepared) Close() error {
	if p == nil {
		return nil
	}
	return p.replica.Close()
}

// newWriter draws the name of this process among the writers.
func newWriter() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:]) | 1
}

// Close stops the store and its node.
func (s *Store) Close() error {
	s.cancel()
	s.ended.Wait()
	return s.replica.Close()
}

// Err returns why the store has stopped by itself, and nil otherwise.
func (s *Store) Err() error { return s.replica.Err() }

// Done implements [api.Store].
func (s *Store) Done() <-chan struct{} { return s.replica.Done() }

// Changed implements [api.Store].
func (s *Store) Changed() <-chan struct{} { return s.app.bell.wait() }

// Read implements [api.Store].
func (s *Store) Read(ctx context.Context, latest bool, f func(*kv.State)) (api.KVFresh, error) {
	look := func() { f(s.app.state) }
	if !latest {
		return s.fresh(s.replica.Read(look), false), nil
	}
	read := s.replica.ReadLatest
	if s.cfg.LeasedReads {
		read = s.replica.ReadLeased
	}
	fresh, err := read(ctx, look)
	if err != nil {
		return api.KVFresh{}, s.explain(err)
	}
	return s.fresh(fresh, true), nil
}

// fresh returns the wire form of the freshness of a read.
func (s *Store) fresh(f replicate.Freshness, latest bool) api.KVFresh {
	out := api.KVFresh{Latest: latest, UpToDate: f.UpToDate, AtMostNS: int64(f.AtMost), AsOfNS: int64(f.AsOf), Members: []int{},
		Situation: f.Situation.String(), Behind: f.Behind}
	if f.View != nil && !f.View.ID.None() {
		out.View = f.View.ID.String()
		for id := range f.View.Set.All() {
			out.Members = append(out.Members, int(id))
		}
	}
	return out
}

// Submit implements [api.Store].
func (s *Store) Submit(ctx context.Context, c kv.Command, in api.Attempt) (api.Submitted, error) {
	c.Dot = s.name()
	c.At = s.node.Clock()
	if err := c.Check(); err != nil {
		return api.Submitted{}, err
	}
	if (c.TTL != 0 || c.Op == kv.Renew) && !kv.Tells(&c.At) {
		return api.Submitted{}, errNoClock
	}
	a, err := s.attempt(ctx, c.Encode(), in)
	if err != nil {
		s.counted.failed.Add(1)
		return api.Submitted{}, s.explain(err)
	}
	s.counted.submitted.Add(1)
	out, err := submitted(&a)
	if err != nil {
		return api.Submitted{}, err
	}
	out.Fresh = s.fresh(s.replica.Read(func() {}), false)
	return out, nil
}

// submitted returns the outcome of a command, without how fresh it is.
func submitted(a *replicate.Applied) (out api.Submitted, err error) {
	out = api.Submitted{Lasting: a.Lasting, Transitional: a.Transitional, Repeated: a.Repeated}
	out.Result, err = resultOf(a.Result)
	return out, err
}

// name returns the name of another command. It is safe for concurrent use: a command with
// the name of another one would change nothing.
func (s *Store) name() kv.Dot { return kv.Dot{Writer: s.writer, Number: s.number.Add(1)} }

// Bootstrap implements [api.Store].
func (s *Store) Bootstrap(ctx context.Context) error {
	if err := s.replica.Bootstrap(ctx); err != nil {
		return s.explain(err)
	}
	return nil
}

// Describe implements [api.Store].
func (s *Store) Describe(a *api.KVStatus) {
	a.Storage = s.cfg.Dir
	p := s.replica.Progress()
	describe(p, s.lags(), s.node.ID(), a)
	s.waitsFor(a, &p)
	s.beganWith(a)
}

// takesCommands reports whether commands are taken and have outcomes soon.
func takesCommands(p *replicate.Progress, l lags) bool {
	return p.Accepting && p.Unstored.Empty() && !l.holdUp()
}

func describe(p replicate.Progress, l lags, self failaware.NodeID, a *api.KVStatus) {
	a.Accepting, a.Lag = takesCommands(&p, l), lagText(l.members)
	if p.Accepting && l.stale {
		a.Lag = stale
	}
	a.Disk, a.UnstoredNS = ownText(&p, self), int64(p.UnstoredFor)
	for id := range p.Absent.All() {
		a.Absent = append(a.Absent, int(id))
	}
	for id := range othersOf(&p, self).All() {
		a.Unstored = append(a.Unstored, int(id))
	}
}
