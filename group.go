package failaware

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/wire"
)

// groupSettings are the settings for which the group's digest stands: its name, the size of
// its packets, and the settings of the broadcast that must be the same at all nodes. A node that has no
// broadcast, or can take less than the others send, would keep their views from ever being
// committed; so it is in a group of its own.
type groupSettings struct {
	name                            string
	maxPacket                       int
	broadcast                       bool // otherwise the others are zero
	window, maxMessages, maxPayload int
	quorum                          string // empty unless the broadcast requires it
}

// group returns the settings of the node's group.
func (c *Config) group() groupSettings {
	g := groupSettings{name: c.Group, maxPacket: c.MaxPacket}
	if b := c.Broadcast; b != nil {
		g.broadcast, g.window, g.maxMessages, g.maxPayload = true, b.Window, b.MaxMessages, b.MaxPayload
		if b.RequireQuorum {
			g.quorum = c.Quorum.String()
		}
	}
	return g
}

// digest stands for the group in packets.
func (g groupSettings) digest() uint64 {
	h := sha256.New()
	fmt.Fprintf(h, "failaware group\x00%s", g.name)
	if g.maxPacket != wire.MaxPacket {
		fmt.Fprintf(h, "\x00packets %d", g.maxPacket)
	}
	if g.broadcast {
		order := "{}" // of all views
		if g.quorum != "" {
			order = g.quorum
		}
		fmt.Fprintf(h, "\x00broadcast %d %d %d %s", g.window, g.maxMessages, g.maxPayload, order)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// likelyGroups returns the likely settings of a misconfigured peer by their digests.
// Packets carry nothing but the digest, so settings that are not among them remain
// unknown.
func (c *Config) likelyGroups() map[uint64]groupSettings {
	own := c.group()
	off := groupSettings{name: own.name, maxPacket: own.maxPacket}
	standard := groupSettings{name: own.name, maxPacket: own.maxPacket, broadcast: true, window: broadcast.DefaultWindow,
		maxMessages: broadcast.DefaultMaxMessages, maxPayload: broadcast.DefaultMaxPayload}
	list := append(standard.variants(), off)
	if c.Quorum != nil {
		standard.quorum = c.Quorum.String()
		list = append(list, standard.variants()...)
	}
	if own.broadcast {
		list = append(list, own.variants()...)
		if c.Quorum != nil {
			turned := own
			turned.quorum = ""
			if own.quorum == "" {
				turned.quorum = c.Quorum.String()
			}
			list = append(list, turned)
		}
	}
	for _, size := range likelyPackets {
		sized := own
		sized.maxPacket = size
		list = append(list, sized)
	}
	likely := make(map[uint64]groupSettings, len(list)+2)
	for _, g := range list {
		likely[g.digest()] = g
	}
	for _, g := range []groupSettings{off, own} {
		g.name = DefaultGroup
		likely[g.digest()] = g
	}
	return likely
}

// likelyPackets are sizes of packets that people choose.
var likelyPackets = []int{wire.MaxPacket, 1400, 1432, 1452, 1472, 1500, 4096, 8192, 8900, 8952, 8972, 9000, 16384, 32768, 60_000, maxMaxPacket}

// variants returns the settings, and those with one limit replaced by its default or a
// power of two.
func (g groupSettings) variants() []groupSettings {
	list := []groupSettings{g}
	add := func(field *int, standard, least, most int) {
		before := *field
		*field = standard
		list = append(list, g)
		for n := least; n <= most; n *= 2 {
			*field = n
			list = append(list, g)
		}
		*field = before
	}
	add(&g.window, broadcast.DefaultWindow, broadcast.MinWindow, broadcast.MaxWindow)
	add(&g.maxMessages, broadcast.DefaultMaxMessages, 1, broadcast.MostMessages)
	add(&g.maxPayload, broadcast.DefaultMaxPayload, 1, broadcast.LargestPayload)
	return list
}

// String returns the settings as text.
func (g groupSettings) String() string {
	if !g.broadcast {
		return fmt.Sprintf("Group %q, MaxPacket %d, Broadcast off", g.name, g.maxPacket)
	}
	text := fmt.Sprintf("Group %q, MaxPacket %d, Broadcast on with Window %d, MaxMessages %d, MaxPayload %d", g.name, g.maxPacket, g.window, g.maxMessages, g.maxPayload)
	if g.quorum != "" {
		text += ", RequireQuorum of " + g.quorum
	}
	return text
}

// differences returns the settings in which a peer differs from this node.
func (n *Node) differences(s *loop.Settings) (list event.Differences) {
	differ := func(setting, here, there string) {
		if here != there {
			list = append(list, event.Difference{Setting: setting, Here: here, There: there})
		}
	}
	own := n.cfg.group()
	if s.Group == own.digest() {
		t := &n.cfg.Timing
		differ("MaxDrift", fmt.Sprintf("%d ppb", int64(t.MaxDrift)), fmt.Sprintf("%d ppb", int64(s.MaxDrift)))
		differ("FastThreshold", t.FastThreshold.String(), s.FastThreshold.String())
		return list
	}
	peer, ok := n.groups[s.Group]
	if !ok {
		return event.Differences{{Setting: "the name, the size of packets or the settings of the broadcast", Here: own.String()}}
	}
	differ("Group", strconv.Quote(own.name), strconv.Quote(peer.name))
	differ("MaxPacket", strconv.Itoa(own.maxPacket), strconv.Itoa(peer.maxPacket))
	differ("Broadcast", onOff(own.broadcast), onOff(peer.broadcast))
	if own.broadcast && peer.broadcast {
		differ("Broadcast.Window", strconv.Itoa(own.window), strconv.Itoa(peer.window))
		differ("Broadcast.MaxMessages", strconv.Itoa(own.maxMessages), strconv.Itoa(peer.maxMessages))
		differ("Broadcast.MaxPayload", strconv.Itoa(own.maxPayload), strconv.Itoa(peer.maxPayload))
		differ("Broadcast.RequireQuorum", onOff(own.quorum != ""), onOff(peer.quorum != ""))
	}
	return list
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
