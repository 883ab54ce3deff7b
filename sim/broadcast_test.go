package sim

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Two members of a view that never hear each other still get what the other
// sends, and learn from the third what is stable, for as long as the view lasts.
func TestBroadcastAroundACutLink(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		require.NoError(t, broadcastAroundACut(seed))
	}
}

func broadcastAroundACut(seed uint64) error {
	opt := Options{Nodes: 3, Calm: true, Broadcast: &Broadcast{}}.withDefaults()
	c, err := CaseOf(seed, opt)
	if err != nil {
		return err
	}
	c.Schedule.Faults = []fault.Fault{{Kind: fault.Cut, Node: 2, Peer: 3}, {Kind: fault.Cut, Node: 3, Peer: 2}}
	c.Schedule.Traffic.Mix, c.Schedule.Traffic.Rate = fault.AllOptions(), 100
	c.Schedule.Traffic.Config.Quorum = nil
	w, err := c.World()
	if err != nil {
		return err
	}
	if err := w.Run(3 * time.Second); err != nil {
		return err
	}
	for id, m := range w.cast.check.Sent {
		if age := time.Duration(w.now - m.At); !m.Outcome && age > time.Second {
			return &Violation{Seed: seed, Check: "loss", Node: id.Sender, At: w.Time(), Detail: fmt.Sprintf("%v has no outcome after %v", id, age)}
		}
	}
	if all := w.Node(1).proc.Stack.BroadcastState().View(); all == nil || all.Set != group(3) || w.count.Casts < 100 {
		return fmt.Errorf("seed %d: in view %v with %d messages sent", seed, all, w.count.Casts)
	}
	return nil
}

// What is lost last, with nothing after it that would show the loss, is asked for
// all the same.
func TestBroadcastLostTail(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		require.NoError(t, broadcastLostTail(seed))
	}
}

func broadcastLostTail(seed uint64) error {
	c, err := CaseOf(seed, Options{Nodes: 2 + int(seed%2), Calm: true, Broadcast: &Broadcast{}})
	if err != nil {
		return err
	}
	const lossy, silent = 200 * time.Millisecond, 1300 * time.Millisecond
	for at := time.Second; at+lossy+silent < c.Options.Duration; at += lossy + silent {
		c.Schedule.Faults = append(c.Schedule.Faults, fault.Fault{At: at, Kind: fault.Loss, Rate: 0.4}, fault.Fault{At: at + lossy, Kind: fault.Heal, For: silent})
	}
	c.Schedule.Traffic.Hush, c.Schedule.Traffic.Rate = true, 50
	return playCase(c)
}

// broadcastBusy is a random world in which much is under way whenever a view
// changes.
func broadcastBusy(seed uint64) error {
	c, err := CaseOf(seed, Options{Nodes: 4, Broadcast: &Broadcast{}})
	if err != nil {
		return err
	}
	c.Schedule.Traffic.Rate, c.Schedule.Traffic.Mix, c.Schedule.Traffic.Hush = 80, fault.AllOptions(), false
	return playCase(c)
}

// A node whose application takes nothing gets no more than it may, and leaves at
// last, so that the others go on.
func TestBroadcastSlowConsumer(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		require.NoError(t, broadcastSlowConsumer(seed))
	}
}

func broadcastSlowConsumer(seed uint64) error {
	cfg := broadcast.Config{Window: broadcast.MinWindow, MaxPayload: 400, Backlog: 2000, SlowAfter: 2 * time.Second}
	c, err := CaseOf(seed, Options{Nodes: 3, Calm: true, Duration: 12 * time.Second, Broadcast: &Broadcast{Config: &cfg}})
	if err != nil {
		return err
	}
	c.Schedule.Faults = []fault.Fault{{At: 2 * time.Second, Kind: fault.SlowConsumer, Node: 1, For: 8 * time.Second}}
	c.Schedule.Traffic.Rate, c.Schedule.Traffic.Mix = 200, fault.AllOptions()
	w, err := c.World()
	if err != nil {
		return err
	}
	if err := w.Run(4*time.Second - time.Millisecond); err != nil {
		return err
	}
	if w.Counters().Sometimes[situation.CastSlowLeft] > 0 {
		return fmt.Errorf("seed %d: node 1 has left before its time", seed)
	}
	if err := w.Run(8 * time.Second); err != nil {
		return err
	}
	if left := w.Counters().Sometimes[situation.CastSlowLeft]; left == 0 {
		return fmt.Errorf("seed %d: node 1 has not left", seed)
	}
	for id, m := range w.cast.check.Sent {
		if n := w.Node(id.Sender); id.Sender != 1 && id.Boot == n.proc.Boot && !m.Outcome && w.now-m.At > int64(5*time.Second) {
			return &Violation{Seed: seed, Check: "loss", Node: id.Sender, At: w.Time(), Detail: fmt.Sprintf("%v has no outcome", id)}
		}
	}
	return nil
}

// broadcastFragments is a calm world in which messages are many fragments, and
// many messages are under way.
func broadcastFragments(seed uint64) error {
	c, err := CaseOf(seed, Options{Nodes: 3, Calm: true, Duration: 3 * time.Second, Broadcast: &Broadcast{
		Config: &broadcast.Config{PacketBytes: broadcast.MinPacketBytes, MaxPayload: 4000}}})
	if err != nil {
		return err
	}
	c.Schedule.Traffic.Largest, c.Schedule.Traffic.Rate, c.Schedule.Traffic.Mix = 4000, 100, fault.AllOptions()
	return playCase(c)
}

func TestBroadcastFragments(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		require.NoError(t, broadcastFragments(seed))
	}
}

func playCase(c Case) error {
	r, err := c.Run()
	if err == nil && r.Violation != nil {
		err = r.Violation
	}
	return err
}

func TestBroadcastBusy(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		require.NoError(t, broadcastBusy(seed))
	}
}

// A case with a broadcast that is written and read again is the same run.
func TestCaseKeepsTraffic(t *testing.T) {
	for seed := uint64(1); seed <= 8; seed++ {
		c, err := CaseOf(seed, Options{Roughness: 3, Duration: 4 * time.Second, Broadcast: &Broadcast{}})
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, c.Write(&b))
		read, err := ReadCase(&b)
		require.NoError(t, err)
		was, err := c.Run()
		require.NoError(t, err)
		is, err := read.Run()
		require.NoError(t, err)
		require.Nil(t, was.Violation)
		require.Equal(t, was.Hash, is.Hash)
		require.NotZero(t, is.Counters.Deliveries)
	}
}

func TestCaseChecksTraffic(t *testing.T) {
	for says, spoil := range map[string]func(*Case){
		"PacketBytes":   func(c *Case) { c.Schedule.Traffic.Config.PacketBytes = 1 },
		"Rate":          func(c *Case) { c.Schedule.Traffic.Rate = -1 },
		"Largest":       func(c *Case) { c.Schedule.Traffic.Largest = 1 << 30 },
		"Mix":           func(c *Case) { c.Schedule.Traffic.Mix = nil },
		"mix":           func(c *Case) { c.Schedule.Traffic.Mix = []broadcast.Options{{Order: 9}} },
		"slow consumer": func(c *Case) { c.Schedule.Traffic = nil; c.Options.Broadcast = nil },
	} {
		c, err := CaseOf(1, Options{Broadcast: &Broadcast{}, Faults: []fault.Fault{{Kind: fault.SlowConsumer, Node: 1}}})
		require.NoError(t, err)
		spoil(&c)
		var b bytes.Buffer
		require.NoError(t, c.Write(&b))
		_, err = ReadCase(&b)
		require.ErrorContains(t, err, says)
	}
	_, err := New(1, Options{Broadcast: &Broadcast{Config: &broadcast.Config{Window: 1}}})
	require.ErrorContains(t, err, "Window")
}

// A broadcast changes nothing of what else is drawn for a seed, and what its
// packets say is the same when they pass through the wire format.
func TestBroadcastHasItsOwnStreams(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		opt := Options{Roughness: 3, Duration: 5 * time.Second}
		without := draw(seed, opt)
		opt.Broadcast = &Broadcast{}
		with := draw(seed, opt)
		require.Equal(t, without.Baseline, with.Baseline)
		var rest []fault.Fault
		for _, f := range with.Faults {
			if f.Kind != fault.Burst && f.Kind != fault.SlowConsumer {
				rest = append(rest, f)
			}
		}
		require.Equal(t, without.Faults, rest)
		plain, err := Run(seed, opt)
		require.NoError(t, err)
		opt.Codec = true
		wire, err := Run(seed, opt)
		require.NoError(t, err)
		require.Nil(t, wire.Violation)
		require.Equal(t, plain.Hash, wire.Hash)
	}
}

// What flies shares nothing with what its sender wrote, and takes no new memory
// once there has been a packet as large.
func TestFreight(t *testing.T) {
	p := &broadcast.Packet{Header: broadcast.Header{View: membership.ViewID{Leader: 1, Boot: 1, Sequence: 1}}}
	p.Runs = []broadcast.Run{{Sender: 1, Boot: 1, First: 1, Count: 2, Sizes: []uint32{1, 2}, Payload: []byte{1, 2, 3}},
		{Sender: 1, Boot: 1, First: 3, Count: 1, Size: 1, Payload: []byte{4}}}
	p.Decisions = []broadcast.Decision{{Number: 1, Ranges: []broadcast.Range{{To: 7}}}}
	p.Wants = []broadcast.Want{{Sender: 2, From: 1, To: 3}}
	var c broadcastCopy
	q := c.copyFrom(p)
	require.Equal(t, p.Header, q.Header)
	require.Equal(t, p.Runs, q.Runs)
	require.Equal(t, p.Decisions, q.Decisions)
	require.Equal(t, p.Wants, q.Wants)
	p.Runs[0].Sizes[0], p.Runs[0].Payload[0], p.Decisions[0].Ranges[0].To, p.Wants[0].To = 9, 9, 9, 9
	require.EqualValues(t, 1, q.Runs[0].Sizes[0])
	require.EqualValues(t, 1, q.Runs[0].Payload[0])
	require.EqualValues(t, 7, q.Decisions[0].Ranges[0].To)
	require.EqualValues(t, 3, q.Wants[0].To)
	require.Zero(t, testing.AllocsPerRun(10, func() { c.copyFrom(p) }))
}

// A copy of a packet that flies keeps memory of its own.
func TestCopiesShareNoFreight(t *testing.T) {
	w := settled(t)
	slot := w.take()
	f := w.slots[slot]
	f.packet.Header = datagram.Header{Source: 1}
	f.packet.Frames, f.packet.Broadcast = wire.FrameBroadcast, &broadcast.Packet{Runs: []broadcast.Run{{Payload: []byte{1}, Count: 1, Size: 1}}}
	f.detach()
	again := w.slots[w.copy(slot)]
	f.packet.Broadcast.Runs[0].Payload[0] = 9
	require.EqualValues(t, 1, again.packet.Broadcast.Runs[0].Payload[0])
}

// group returns the ids that nodes of a world have.
func group(nodes int) (g timed.Set) {
	for i := range nodes {
		g.Add(timed.NodeID(i + 1))
	}
	return g
}
