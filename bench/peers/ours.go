package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// ours is a node of this library. It leads if a majority of all nodes voted for it.
type ours struct {
	c       *child
	node    *failaware.Node
	replica *replicate.Replica
}

func startOurs(c *child) (member, error) {
	j := &c.job
	var all failaware.Set
	cfg := failaware.Config{ID: failaware.NodeID(j.ID), Group: "peers", Timing: failaware.LAN(), Insecure: true,
		RaiseProcs: j.Use == forLeading, MaxPacket: 1200}
	if j.Tight {
		cfg.Timing = timed.Local()
	}
	for i, host := range j.Hosts {
		id := failaware.NodeID(i + 1)
		all.Add(id)
		cfg.Peers = append(cfg.Peers, failaware.Peer{ID: id, Addr: host + ":7001"})
	}
	cfg.Listen = cfg.Peers[j.ID-1].Addr
	var err error
	if cfg.Quorum, err = quorum.Majority(all); err != nil {
		return nil, err
	}
	if j.Use != forLeading {
		runtime.GOMAXPROCS(1) // docs/how-to/latency.md
	}
	switch j.Use {
	case forMessages:
		cfg.MaxPacket, cfg.Broadcast = 60_000, &failaware.BroadcastConfig{}
	case forStoring:
		cfg.MaxPacket, cfg.Broadcast = 60_000, &failaware.BroadcastConfig{RequireQuorum: true}
		cfg.StateDir = filepath.Join(j.Dir, "node")
	}
	m := &ours{c: c}
	if m.node, err = failaware.Start(context.Background(), cfg); err != nil {
		return nil, err
	}
	switch j.Use {
	case forMessages:
		go m.receive()
	case forStoring:
		m.replica, err = replicate.Start(m.node, nothing{}, replicate.Config{Storage: filepath.Join(j.Dir, "state")})
	}
	go m.watch()
	return m, err
}

// watch reports after every event, and while the support of a leader may still grow,
// of which there are no events.
func (m *ours) watch() {
	woken := make(chan struct{}, 1)
	go func() {
		for range m.node.EventsSince(context.Background(), 0) {
			select {
			case woken <- struct{}{}:
			default:
			}
		}
	}()
	const settles = 100 * time.Millisecond
	var last string
	for range woken {
		for end := time.Now().Add(settles); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
			leader, members := m.look()
			if s := fmt.Sprint(leader, members); s != last {
				last = s
				m.c.saw(leader, members)
			}
		}
	}
}

// look returns the leader that a quorum stands behind, as far as this node has its vote
// bound to it, and the members of the view if that is up to date.
func (m *ours) look() (leader int, members []int) {
	if a := m.node.Leader(); a.UpToDate && (!a.Leads || m.node.LeadsGlobally()) {
		leader = int(a.Leader)
	}
	members = []int{}
	if v := m.node.View(); v.UpToDate {
		for id := range v.View.Set.All() {
			members = append(members, int(id))
		}
	}
	return leader, members
}

func (m *ours) leads() bool     { return m.node.LeadsGlobally() }
func (m *ours) campaign() error { return nil }

func (m *ours) receive() {
	into := make([]failaware.Delivery, 512)
	for {
		n, err := m.node.Receive(context.Background(), into)
		if err != nil {
			return
		}
		for i := range into[:n] {
			if into[i].Change == nil {
				m.c.deliver(into[i].Payload)
			}
		}
	}
}

func (m *ours) send(payload []byte, flavour string) error {
	opt := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.WeakAtomicity}
	if flavour == "strict" {
		opt.Atomicity = failaware.StrictAtomicity
	}
	_, err := m.node.Broadcast(context.Background(), payload, opt)
	return err
}

func (m *ours) store(ctx context.Context, value []byte) error {
	_, err := m.replica.Submit(ctx, value)
	return err
}

// nothing is a state that is always the same.
type nothing struct{}

func (nothing) Apply(replicate.Operation) any { return nil }
func (nothing) Snapshot(w io.Writer) error    { _, err := w.Write([]byte{0}); return err }
func (nothing) Restore(r io.Reader) error     { _, err := io.Copy(io.Discard, r); return err }
