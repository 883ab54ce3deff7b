package failaware

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// settings returns the settings that must be the same at all nodes of the group.
func (c *Config) settings() wire.Settings {
	s := wire.Settings{Group: c.Group, MaxPacket: uint32(c.MaxPacket), MaxDrift: c.Timing.MaxDrift, FastThreshold: c.Timing.FastThreshold}
	if c.Quorum != nil {
		s.System = c.Quorum.String()
	}
	if b := c.Broadcast; b != nil {
		s.Broadcast, s.RequireQuorum = true, b.RequireQuorum
		s.Window, s.MaxMessages, s.MaxPayload = uint32(b.Window), uint32(b.MaxMessages), uint32(b.MaxPayload)
		if b.RequireQuorum && c.StateDir == "" {
			s.System += wire.Fixed
		}
	}
	return s
}

// groupDigest stands for the group in packets: for its name, the size of its packets, and the
// settings of the broadcast. A node without the broadcast, or with smaller limits than the
// others, would keep every view from being committed, so it is in a group of its own. A node
// without a state directory never replaces its quorum system, so those that order messages by
// different systems are in different groups too. Nodes with a state directory hear of the
// system in use from each other.
func (c *Config) groupDigest() uint64 {
	h := sha256.New()
	fmt.Fprintf(h, "failaware group\x00%s", c.Group)
	if c.MaxPacket != wire.MaxPacket {
		fmt.Fprintf(h, "\x00packets %d", c.MaxPacket)
	}
	if b := c.Broadcast; b != nil {
		order := "{}" // of all views
		switch {
		case b.RequireQuorum && c.StateDir != "":
			order = "epochs"
		case b.RequireQuorum:
			order = c.Quorum.String()
		}
		fmt.Fprintf(h, "\x00broadcast %d %d %d %s", b.Window, b.MaxMessages, b.MaxPayload, order)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// formerDigest returns the digest that the group has if its quorum system is never replaced.
func (c *Config) formerDigest() uint64 {
	former := *c
	former.StateDir = ""
	return former.groupDigest()
}

// groupText returns the settings that the digest stands for.
func groupText(s *wire.Settings) string {
	text := fmt.Sprintf("Group %q, MaxPacket %d, Broadcast %s", s.Group, s.MaxPacket, onOff(s.Broadcast))
	if s.Broadcast {
		text += fmt.Sprintf(" with Window %d, MaxMessages %d, MaxPayload %d", s.Window, s.MaxMessages, s.MaxPayload)
	}
	switch {
	case s.RequireQuorum && s.Fixed():
		text += ", RequireQuorum of " + s.System
	case s.RequireQuorum:
		text += ", RequireQuorum with a StateDir"
	}
	return text
}

// differing are the differences found so far.
type differing event.Differences

func (d *differing) note(setting, here, there string) {
	if here != there {
		*d = append(*d, event.Difference{Setting: setting, Here: here, There: there})
	}
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func (d *differing) noteTiming(here *timed.Timing, drift timed.Drift, fast time.Duration) {
	d.note("MaxDrift", fmt.Sprintf("%d ppb", int64(here.MaxDrift)), fmt.Sprintf("%d ppb", int64(drift)))
	d.note("FastThreshold", here.FastThreshold.String(), fast.String())
}

// settingsOf returns the settings of an event.
func settingsOf(e *stack.Event) *loop.Settings {
	s := &loop.Settings{Group: e.Group, MaxDrift: e.MaxDrift, FastThreshold: e.FastThreshold}
	if e.Settings != nil {
		s.Told = *e.Settings
	}
	return s
}

// differences returns the settings in which an ignored peer differs from this node.
func (n *Node) differences(s *loop.Settings) event.Differences {
	var d differing
	own, there := n.cfg.settings(), &s.Told
	switch {
	case s.Group == n.cfg.groupDigest():
		d.noteTiming(&n.cfg.Timing, s.MaxDrift, s.FastThreshold)
	case there.Known():
		d.note("Group", strconv.Quote(own.Group), strconv.Quote(there.Group))
		d.note("MaxPacket", decimal(own.MaxPacket), decimal(there.MaxPacket))
		d.noteTiming(&n.cfg.Timing, there.MaxDrift, there.FastThreshold)
		d.note("Broadcast", onOff(own.Broadcast), onOff(there.Broadcast))
		if own.Broadcast && there.Broadcast {
			d.note("Broadcast.Window", decimal(own.Window), decimal(there.Window))
			d.note("Broadcast.MaxMessages", decimal(own.MaxMessages), decimal(there.MaxMessages))
			d.note("Broadcast.MaxPayload", decimal(own.MaxPayload), decimal(there.MaxPayload))
			d.note("Broadcast.RequireQuorum", onOff(own.RequireQuorum), onOff(there.RequireQuorum))
		}
		if own.RequireQuorum && there.RequireQuorum {
			d.note("StateDir", stateDirText(own), stateDirText(*there))
		}
		if here := n.Epoch(); here.System != "" || !n.cfg.JoinQuorum { // otherwise it has yet to learn the system
			d.noteQuorum(here, there)
		}
	}
	if len(d) == 0 {
		return event.Differences{{Setting: "the name, the size of packets or the settings of the broadcast", Here: groupText(&own)}}
	}
	return event.Differences(d)
}

// noteQuorum notes how the quorum system in use differs from that of a peer.
func (d *differing) noteQuorum(here EpochAnswer, there *wire.Settings) {
	if here.System == "" {
		here.Epoch = 0
	}
	d.note("QuorumEpoch", strconv.FormatUint(here.Epoch, 10), strconv.FormatUint(there.Quorum.Epoch, 10))
	d.note("Quorum", systemText(wire.CutSystem(here.System)), systemText(strings.TrimSuffix(there.System, wire.Fixed)))
}

// stateDirText says whether a node whose messages are ordered by quorums has a StateDir.
func stateDirText(s wire.Settings) string {
	if s.Fixed() {
		return "not set"
	}
	return "set"
}

func systemText(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// quorumDifferences returns how the quorum system of a peer differs from this node's. The
// settings of the peer are nil if it has not told them.
func (n *Node) quorumDifferences(there *wire.Settings) event.Differences {
	var d differing
	if there != nil {
		d.noteQuorum(n.Epoch(), there)
	}
	return event.Differences(d)
}

// foreign says how the quorum system of a peer differs, by the settings that it has told, if it has.
func (n *Node) foreign(there *wire.Settings) string {
	if there.Known() {
		if d := n.quorumDifferences(there); len(d) > 0 {
			return "it does not vote for this node, nor this node for it: " + d.String() + d.Remedy()
		}
	}
	return "it has another quorum system: it does not vote for this node, nor this node for it"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
