package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// raftMember is a node of hashicorp/raft. Its log is in memory, or on disk by raft-wal.
type raftMember struct {
	c    *child
	raft *raft.Raft
	room chan struct{} // a place for each message under way
}

func startRaft(c *child) (member, error) {
	j := &c.job
	cfg := raft.DefaultConfig()
	cfg.LocalID, cfg.LogOutput = raft.ServerID(strconv.Itoa(j.ID)), io.Discard
	if j.Tight {
		if j.Use == forLeading {
			cfg.HeartbeatTimeout, cfg.ElectionTimeout, cfg.LeaderLeaseTimeout = raftTight, raftTight, raftTight
		}
		cfg.CommitTimeout, cfg.MaxAppendEntries, cfg.BatchApplyCh = time.Millisecond, 1024, true
	}
	var servers []raft.Server
	for i, host := range j.Hosts {
		servers = append(servers, raft.Server{ID: raft.ServerID(strconv.Itoa(i + 1)), Address: raft.ServerAddress(host + ":7002")})
	}
	here := string(servers[j.ID-1].Address)
	addr, err := net.ResolveTCPAddr("tcp", here)
	if err != nil {
		return nil, err
	}
	transport, err := raft.NewTCPTransport(here, addr, 3, time.Second, io.Discard)
	if err != nil {
		return nil, err
	}
	memory := raft.NewInmemStore()
	var log raft.LogStore = memory
	var stable raft.StableStore = memory
	if j.Use == forStoring {
		dir := filepath.Join(j.Dir, "wal")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		w, err := wal.Open(dir)
		if err != nil {
			return nil, err
		}
		log, stable = w, w
	}
	m := &raftMember{c: c, room: make(chan struct{}, 4096)}
	snapshots := raft.NewInmemSnapshotStore()
	if m.raft, err = raft.NewRaft(cfg, m, log, stable, snapshots, transport); err != nil {
		return nil, err
	}
	// A node that starts again without its log learns it from the others.
	if err := m.raft.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil && err != raft.ErrCantBootstrap {
		return nil, err
	}
	go m.watch()
	return m, nil
}

// raftTight is the election timeout that keeps an idle group's leader on two cores.
const raftTight = 50 * time.Millisecond

// watch reports after every change of the leader.
func (m *raftMember) watch() {
	changes := make(chan raft.Observation, 64)
	m.raft.RegisterObserver(raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.LeaderObservation, raft.RaftState:
			return true
		}
		return false
	}))
	last := -1
	for {
		_, id := m.raft.LeaderWithID()
		leader, _ := strconv.Atoi(string(id)) // "" is none
		if leader != last {
			last = leader
			m.c.saw(leader, nil)
		}
		<-changes
	}
}

func (m *raftMember) leads() bool     { return m.raft.State() == raft.Leader }
func (m *raftMember) campaign() error { return nil }

func (m *raftMember) send(payload []byte, _ string) error {
	m.room <- struct{}{}
	f := m.raft.Apply(bytes.Clone(payload), 0)
	go func() {
		_ = f.Error() // what was not applied was not delivered
		<-m.room
	}()
	return nil
}

func (m *raftMember) store(_ context.Context, value []byte) error {
	return m.raft.Apply(bytes.Clone(value), 0).Error()
}

// Apply and the following are the raft.FSM.
func (m *raftMember) Apply(l *raft.Log) any {
	m.c.deliver(l.Data)
	return nil
}

func (m *raftMember) Snapshot() (raft.FSMSnapshot, error) { return m, nil }
func (m *raftMember) Restore(r io.ReadCloser) error       { return r.Close() }
func (m *raftMember) Persist(s raft.SnapshotSink) error   { return s.Close() }
func (m *raftMember) Release()                            {}
