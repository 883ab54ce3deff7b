package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A run that a packet brings counts only if its fields fit each other, whoever sent it.
func TestRunsWhoseFieldsDoNotFitAreRefused(t *testing.T) {
	whole := func() Run {
		return Run{Sender: 2, Boot: 7, Class: ClassOrdered, Options: Options{Order: TotalOrder}, First: 3, Count: 2, Size: 4, Payload: make([]byte, 8)}
	}
	listed := func() Run {
		r := whole()
		r.Size, r.Sizes = 0, []uint32{3, 5}
		return r
	}
	for _, run := range []func() Run{whole, listed} {
		r := run()
		require.True(t, r.Valid())
	}
	for name, damage := range map[string]func(*Run){
		"no sender":                    func(r *Run) { r.Sender = timed.NoNode },
		"no boot id":                   func(r *Run) { r.Boot = 0 },
		"a class that does not exist":  func(r *Run) { r.Class = classes },
		"an order that does not exist": func(r *Run) { r.Options.Order = Unordered + 1 },
		"an order of another class":    func(r *Run) { r.Options.Order = Unordered },
		"a class of another order":     func(r *Run) { r.Class = ClassUnordered },
		"message 0":                    func(r *Run) { r.First = 0 },
		"no message":                   func(r *Run) { r.Count, r.Size, r.Payload, r.Sizes = 0, 0, nil, nil },
		"fewer than none":              func(r *Run) { r.Count, r.Size, r.Payload, r.Sizes = -1, 0, nil, nil },
		"too many":                     func(r *Run) { r.Count, r.Size, r.Payload, r.Sizes = MaxRun+1, 0, nil, nil },
		"the end of the numbers":       func(r *Run) { r.First = MaxSequence - 1 },
		"a negative deviation":         func(r *Run) { r.Deviation = -1 },
		"a shorter payload":            func(r *Run) { r.Payload = r.Payload[:7] },
		"a longer payload":             func(r *Run) { r.Payload = append(r.Payload, 0) },
	} {
		for _, run := range []func() Run{whole, listed} {
			r := run()
			damage(&r)
			require.False(t, r.Valid(), name)
		}
	}
	for name, damage := range map[string]func(*Run){
		"fewer lengths": func(r *Run) { r.Sizes = []uint32{8} },
		"more lengths":  func(r *Run) { r.Sizes = []uint32{3, 5, 0} },
		"two lengths":   func(r *Run) { r.Size = 4 },
	} {
		r := listed()
		damage(&r)
		require.False(t, r.Valid(), name)
	}
	last := whole()
	last.First = MaxSequence - 2
	require.True(t, last.Valid())
	most := whole()
	most.Count, most.Size, most.Payload = MaxRun, 1, make([]byte, MaxRun)
	require.True(t, most.Valid())
}

// The limits of a configuration are part of what it may have.
func TestLimitsAreAllowed(t *testing.T) {
	least := Config{Window: MinWindow, MaxMessages: 1, MaxPayload: 1, PacketBytes: MinPacketBytes, Backlog: 1, SlowAfter: timed.MinDuration}
	most := Config{Window: MaxWindow, MaxMessages: MostMessages, MaxPayload: LargestPayload, PacketBytes: MaxPacketBytes, Backlog: MaxWindow, SlowAfter: timed.MaxDuration}
	require.NoError(t, least.Validate())
	require.NoError(t, most.Validate())
	for name, change := range map[string]func(*Config){
		"Window":      func(c *Config) { c.Window++ },
		"MaxMessages": func(c *Config) { c.MaxMessages++ },
		"MaxPayload":  func(c *Config) { c.MaxPayload++ },
		"PacketBytes": func(c *Config) { c.PacketBytes++ },
		"Backlog":     func(c *Config) { c.Backlog++ },
		"SlowAfter":   func(c *Config) { c.SlowAfter++ },
	} {
		above := most
		change(&above)
		require.ErrorContains(t, above.Validate(), "broadcast: "+name+": ")
	}
}

// What a member of another view says is counted, and changes nothing.
func TestPacketsOfOtherViewsAreCounted(t *testing.T) {
	g := newTrio(3, Config{})
	g.run(10 * time.Millisecond)
	p := *g.nodes[1].Blank(g.reading(1))
	before := g.nodes[0].Dropped.OtherView
	for _, sequence := range []uint64{0, 1} {
		p.View.Sequence += sequence
		g.nodes[0].HandlePacket(g.now, g.nodes[1].cfg.Self, &p, nil)
		require.Equal(t, before+sequence, g.nodes[0].Dropped.OtherView)
	}
}

// A piece that its own count does not have, from the right node and of the right proposal, is
// ignored: the whole counts once its true pieces are here.
func TestImpossiblePiecesAreIgnored(t *testing.T) {
	g := newTrio(3, Config{})
	v, old := viewOf(3, 0, 1, 2), g.nodes[1].view.ID
	lead, member := g.nodes[0], g.nodes[1]
	lead.Freeze(g.now, v, true)
	member.Freeze(g.now, v, false)
	for _, p := range []Piece{{}, {Number: 1, Of: 1}, {Number: 2, Of: 1}, {Number: 0, Of: MaxPieces + 1}, {Number: 0, Of: 1}} {
		require.False(t, member.freeze.planned)
		require.Nil(t, member.freeze.commit)
		require.Nil(t, lead.freeze.reports[2])
		lead.handleReport(g.now, incarnation(2), &Report{Piece: p, Proposal: v.ID, Previous: old})
		member.handlePlan(g.now, incarnation(0), &Plan{Piece: p, Proposal: v.ID, Groups: []Group{{Previous: old, Source: 1}}})
		member.handleCommit(incarnation(0), &Commit{Piece: p, Proposal: v.ID, Branches: []Branch{{Previous: old}}})
	}
	require.True(t, member.freeze.planned)
	require.NotNil(t, member.freeze.commit)
	require.NotNil(t, lead.freeze.reports[2])
}
