package bench

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// pagesSetup makes a node one with a replicated state.
type pagesSetup struct {
	Nodes int // of the group
	MiB   int // of the state
	Spool string
	Rate  int           // bytes of the state that a node sends in a second; 0: the default
	Every time.Duration // of a client's operations; 0: one after the other
}

// config completes the configuration of a node. A nil setup is that of a node without a
// state.
func (p *pagesSetup) config(cfg *failaware.Config) (err error) {
	if p == nil {
		return nil
	}
	var all timed.Set
	for id := range p.Nodes {
		all.Add(timed.NodeID(id + 1))
	}
	cfg.Broadcast = &failaware.BroadcastConfig{RequireQuorum: true}
	cfg.Quorum, err = quorum.Majority(all)
	return err
}

// pagesChild is a replica with clients, which submit one operation after the other.
type pagesChild struct {
	replica *replicate.Replica
	app     *pages
	setup   pagesSetup
	done    atomic.Uint64 // operations of clients
}

// start starts a replica.
func (p *pagesSetup) start(node *failaware.Node) (*pagesChild, error) {
	if p == nil {
		return nil, nil
	}
	c := &pagesChild{app: newPages(p.MiB), setup: *p}
	var err error
	c.replica, err = replicate.Start(node, c.app, replicate.Config{Spool: p.Spool, Rate: p.Rate})
	return c, err
}

// flood starts clients.
func (c *pagesChild) flood(ctx context.Context, clients int) {
	for range clients {
		go c.submit(ctx)
	}
}

func (c *pagesChild) submit(ctx context.Context) {
	command := make([]byte, 64)
	for due := time.Now(); ctx.Err() == nil; {
		binary.BigEndian.PutUint32(command, rand.Uint32())
		if _, err := c.replica.Submit(ctx, command); err == nil {
			c.done.Add(1)
		}
		if c.setup.Every > 0 {
			due = due.Add(c.setup.Every)
			time.Sleep(time.Until(due))
		}
	}
}

// pagesLook is how far a replica is.
type pagesLook struct {
	Done         uint64 // operations of its clients
	Restored     uint64 // how often it got the state of others
	Works        bool   // it has the state of the view
	Transferring bool   // it waits for the state of the view
	Behind       int    // calls of the application that wait
	From         timed.NodeID
	Bytes        uint64 // of the state have come
	Total        uint64
	Peak         int64 // resident memory at most since the look before, in bytes
}

func (c *pagesChild) look() (*pagesLook, error) {
	p := c.replica.Progress()
	l := &pagesLook{Done: c.done.Load(), Restored: c.app.restored.Load(), From: p.From, Bytes: p.Bytes, Total: p.Total}
	l.Works, l.Transferring, l.Behind = p.Situation == replicate.Working, p.Situation == replicate.Transferring, p.Behind
	var err error
	l.Peak, err = peakMemory()
	return l, err
}
