package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/internal/jsonlines"
	"github.com/failaware/failaware/replicate"
)

// member is a running program.
type member struct {
	cfg   Config
	log   *log
	a, b  *failaware.Node
	store *replicate.Replica
	state *registers

	quiet  atomic.Bool   // clients and senders do nothing
	writes atomic.Uint64 // of the clients
	reads  atomic.Uint64
	late   atomic.Int64 // the worst lateness of the poller since the last sample

	to *jsonlines.Writer
}

// Report is a line that a member prints.
type Report struct {
	Answer int    `json:",omitempty"` // to the command of that number
	Err    string `json:",omitempty"`
	Late   int64  `json:",omitempty"` // answer to Sample
	// Status, if not nil, is what the member sees of its groups now.
	Status *Status `json:",omitempty"`
	// Edict, if not empty, is for the fence, with its payload.
	Edict   string `json:",omitempty"`
	Payload string `json:",omitempty"`
	// Failed says why the program ends by itself.
	Failed string `json:",omitempty"`
}

// Status is what a member sees of its groups.
type Status struct {
	ViewA, ViewB string // up-to-date views, or ""
	SizeA, SizeB int    // how many members these have
	Global       [2]int // the global leaders of groups a and b, or 0
	Epochs       [2]uint64
	Leader       string // the leader of group b, backed by a vote, or ""
	Working      bool   // it has the registers
}

// Command is a line that a member reads.
type Command struct {
	Number int
	Do     string
	Group  string `json:",omitempty"` // of DoEpoch
	Voters []int  `json:",omitempty"` // of DoEpoch
}

// Commands.
const (
	DoReload = "reload" // read the key file again
	DoQuiet  = "quiet"  // stop the load
	DoState  = "state"  // log the state of the registers
	DoSample = "sample" // log the resources that the process uses
	// DoProfile writes a profile of the heap.
	DoProfile = "profile"
	// DoEpoch makes the global leader of Group begin an epoch whose quorums are the majorities
	// of Voters.
	DoEpoch = "epoch"
)

// Serve runs a member, from the lines of in, until in ends or a node stops by itself.
func Serve(in io.Reader, out io.Writer) error {
	m := &member{to: jsonlines.NewWriter(out)}
	lines := json.NewDecoder(in)
	err := lines.Decode(&m.cfg)
	if err == nil {
		err = m.run(lines)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		m.print(Report{Failed: err.Error()})
		return fmt.Errorf("chaos: node %d: %w", m.cfg.Node, err)
	}
	return nil
}

func (m *member) print(r Report) { _ = m.to.Put(r) }

// start starts the nodes.
func (m *member) start(ctx context.Context) (err error) {
	if m.log, err = openLog(m.cfg.Log); err != nil {
		return err
	}
	a, b, err := m.cfg.configs()
	if err != nil {
		return err
	}
	if m.a, err = failaware.Start(ctx, a); err != nil {
		return err
	}
	m.state = newRegisters()
	m.store, err = replicate.Start(m.a, m.state, replicate.Config{Storage: StoreDir(m.cfg.State), HashEvery: 64, OnEvent: m.stateEvent})
	if err != nil {
		return err
	}
	m.b, err = failaware.Start(ctx, b)
	return err
}

func (m *member) run(lines *json.Decoder) error {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	if err := m.start(ctx); err != nil {
		return err
	}
	for _, f := range []func(context.Context){m.poll, m.receive, m.send, m.client, m.client, m.lead, m.hold, m.decide,
		func(ctx context.Context) { m.events(ctx, GroupA, m.a) }, func(ctx context.Context) { m.events(ctx, GroupB, m.b) }} {
		work.Go(func() { f(ctx) })
	}
	end := make(chan error, 1)
	go func() { end <- m.serve(ctx, lines) }()
	select {
	case err := <-end:
		return errors.Join(err, m.log.failed())
	case <-m.store.Done():
		return fmt.Errorf("the registers or their node stopped: %w", errors.Join(m.store.Err(), m.a.Err()))
	case <-m.b.Done():
		return fmt.Errorf("the node of group b stopped: %w", m.b.Err())
	}
}

// serve performs commands until they end.
func (m *member) serve(ctx context.Context, lines *json.Decoder) error {
	for {
		var c Command
		if err := lines.Decode(&c); err != nil {
			return err
		}
		r := Report{Answer: c.Number}
		if err := m.perform(ctx, &c, &r); err != nil {
			r.Err = err.Error()
		}
		m.print(r)
	}
}

// patience limits the duration of a command.
const patience = 10 * time.Second

func (m *member) perform(ctx context.Context, c *Command, r *Report) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch c.Do {
	case DoReload:
		return errors.Join(m.a.ReloadKeys(ctx), m.b.ReloadKeys(ctx))
	case DoQuiet:
		m.quiet.Store(true)
	case DoState:
		from := Now()
		var s oracle.Record
		_, err := m.store.ReadLatest(ctx, func() {
			s = oracle.Record{Kind: oracle.State, From: from, Applied: m.state.Applied, Number: m.state.Again}
			s.To = Now()
			m.log.write(s) // the map must not change meanwhile
		})
		return err
	case DoSample:
		m.sample(r)
	case DoProfile:
		return m.profile()
	case DoEpoch:
		return m.change(ctx, c.Group, c.Voters)
	default:
		return fmt.Errorf("no such command: %q", c.Do)
	}
	return nil
}

// rest waits for a random time around d. It returns false when ctx is done.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d/2 + rand.N(d)):
		return true
	case <-ctx.Done():
		return false
	}
}
