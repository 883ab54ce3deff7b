package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// listMember is a node of memberlist. It has no leaders, and gossips messages without an
// order.
type listMember struct {
	unable
	c     *child
	list  *memberlist.Memberlist
	queue memberlist.TransmitLimitedQueue

	mu     sync.Mutex
	number uint32              // of the run
	seen   map[uint64]struct{} // places of its messages
}

func startMemberlist(c *child) (member, error) {
	j := &c.job
	m := &listMember{c: c}
	cfg := memberlist.DefaultLANConfig()
	if j.Tight {
		cfg.ProbeInterval, cfg.ProbeTimeout = 50*time.Millisecond, 20*time.Millisecond
		cfg.SuspicionMult, cfg.SuspicionMaxTimeoutMult = 1, 1
		cfg.GossipInterval, cfg.PushPullInterval = 5*time.Millisecond, time.Second
	}
	cfg.Name, cfg.BindAddr, cfg.BindPort = strconv.Itoa(j.ID), j.Hosts[j.ID-1], 7003
	cfg.AdvertiseAddr, cfg.AdvertisePort = cfg.BindAddr, cfg.BindPort
	cfg.UDPBufferSize = 60_000 // as large as the network takes
	cfg.DNSConfigPath, cfg.LogOutput = "", io.Discard
	events := make(chan memberlist.NodeEvent, 1024)
	cfg.Events, cfg.Delegate = &memberlist.ChannelEventDelegate{Ch: events}, (*listDelegate)(m)
	var err error
	if m.list, err = memberlist.Create(cfg); err != nil {
		return nil, err
	}
	m.queue.NumNodes, m.queue.RetransmitMult = m.list.NumMembers, cfg.RetransmitMult
	go m.join()
	go func() {
		for range events {
			m.report()
		}
	}()
	return m, nil
}

// join asks the others until it knows all of them.
func (m *listMember) join() {
	for m.list.NumMembers() < len(m.c.job.Hosts) {
		for _, host := range m.c.job.Hosts {
			_, _ = m.list.Join([]string{host + ":7003"}) // it may not have started yet
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (m *listMember) report() {
	members := []int{}
	for _, n := range m.list.Members() {
		id, _ := strconv.Atoi(n.Name) // our own names
		members = append(members, id)
	}
	slices.Sort(members)
	m.c.saw(0, members)
}

// gossiped is how many messages may wait to be gossiped. Beyond that the queue would drop
// none, and grow.
const gossiped = 256

func (m *listMember) send(payload []byte, _ string) error {
	if len(payload) > 50_000 {
		return errNotOffered
	}
	for m.queue.NumQueued() >= gossiped {
		time.Sleep(time.Millisecond)
	}
	m.c.deliver(payload)
	m.queue.QueueBroadcast(rumour(bytes.Clone(payload)))
	return nil
}

// rumour is a message.
type rumour []byte

func (rumour) Invalidates(memberlist.Broadcast) bool { return false }
func (r rumour) Message() []byte                     { return r }
func (rumour) Finished()                             {}

// listDelegate is the application.
type listDelegate listMember

func (d *listDelegate) NodeMeta(int) []byte           { return nil }
func (d *listDelegate) LocalState(bool) []byte        { return nil }
func (d *listDelegate) MergeRemoteState([]byte, bool) {}
func (d *listDelegate) NotifyMsg(b []byte)            { (*listMember)(d).heard(b) }
func (d *listDelegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.queue.GetBroadcasts(overhead, limit)
}

// heard passes each message on once: a message is gossiped several times.
func (m *listMember) heard(b []byte) {
	if len(b) < payloadHead {
		return
	}
	number, place := binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[16:])
	m.mu.Lock()
	if number != m.number {
		m.number, m.seen = number, map[uint64]struct{}{}
	}
	_, again := m.seen[place]
	m.seen[place] = struct{}{}
	m.mu.Unlock()
	if !again {
		m.c.deliver(b)
	}
}
