package wire

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// goldenKind is a kind of packet. The i-th packet of a kind differs from the others
// in its size and in its numbers.
type goldenKind struct {
	name   string
	frames Frames
	fill   func(g *golden, p *Packet, i int)
}

// goldenFrames fill one frame each.
var goldenFrames = []goldenKind{
	{"hello", 0, func(*golden, *Packet, int) {}},
	{"in use", FrameInUse, func(g *golden, p *Packet, _ int) { g.inUse(p) }},
	{"release", FrameRelease, func(g *golden, p *Packet, _ int) { p.Release = g.instant() }},
	{"resign", FrameResign, func(g *golden, p *Packet, _ int) { p.Resign = g.viewID() }},
	{"dropped", FrameDropped, func(g *golden, p *Packet, _ int) { p.Dropped = g.viewID() }},
	{"request", FrameRequest, func(g *golden, p *Packet, _ int) { g.request(p, membership.NoPart, 0) }},
	{"renewal", FrameRequest, func(g *golden, p *Packet, _ int) { g.request(p, membership.Renew, 0) }},
	{"proposal", FrameRequest, func(g *golden, p *Packet, i int) { g.request(p, membership.Propose, 1+i%timed.MaxNodes) }},
	{"commit", FrameRequest, func(g *golden, p *Packet, i int) { g.request(p, membership.Commit, 1+i%timed.MaxNodes) }},
	{"line", FrameLine, func(g *golden, p *Packet, _ int) { g.line(p) }},
	{"reply", FrameReply, func(g *golden, p *Packet, _ int) { p.Reply, p.Report = g.reply(), g.report() }},
	{"leaving", FrameLeaving, func(_ *golden, p *Packet, i int) { p.Forget = i%2 == 1 }},
	{"utc", FrameUTC, func(g *golden, p *Packet, _ int) { g.utc(p) }},
	{"samples", FrameSamples, func(g *golden, p *Packet, _ int) { g.samples(p) }},
	{"quorum", FrameQuorum, func(g *golden, p *Packet, _ int) {
		p.Quorum.Epoch, p.Quorum.Digest = g.uint(0, math.MaxUint64), g.uint(0, math.MaxUint64)
	}},
	{"stamp", FrameStamp, func(g *golden, p *Packet, _ int) { p.Stamp = g.voteStamp() }},
	{"question", FrameQuestion, func(g *golden, p *Packet, _ int) { p.Question.Asked = g.instant() }},
	{"answer", FrameAnswer, func(g *golden, p *Packet, _ int) {
		p.Answer.Asked, p.Answer.Asker, p.Answer.Local, p.Answer.Global = g.instant(), g.boot(), g.duration(), g.duration()
	}},
	{"successor", FrameSuccessor, func(g *golden, p *Packet, _ int) { p.Successor = g.node() }},
	{"tree", FrameRequest | FrameTree, func(g *golden, p *Packet, _ int) {
		g.request(p, membership.Renew, 0)
		g.tree(p)
	}},
	{"collated", FrameCollated, func(g *golden, p *Packet, i int) { p.Collated = g.collated(1 + i%timed.MaxNodes) }},
	{"epoch", FrameEpoch, func(g *golden, p *Packet, i int) { p.Epoch = g.epoch(epoch.Phase(i%4), i%60) }},
	{"members", FrameMembers, func(g *golden, p *Packet, i int) { p.Members = g.members(1 + i%MaxMembers) }},
	{"labels", FrameLabels, func(g *golden, p *Packet, i int) { p.Labels = g.labels(i % (MaxTags + 1)) }},
	{"used", FrameInUse | FrameUsed, func(g *golden, p *Packet, i int) {
		g.inUse(p)
		for range i {
			p.Used.Add(g.node())
		}
	}},
	{"broadcast header", FrameBroadcast, func(g *golden, p *Packet, _ int) { p.Broadcast = &broadcast.Packet{Header: g.castHeader()} }},
	{"broadcast runs", FrameBroadcast, goldenRuns},
	{"broadcast decisions", FrameBroadcast, goldenDecisions},
	{"broadcast wants", FrameBroadcast, goldenWants},
	{"broadcast done", FrameBroadcast, func(g *golden, p *Packet, _ int) {
		p.Broadcast = &broadcast.Packet{Header: g.castHeader(), Done: g.viewID()}
	}},
	{"broadcast report", FrameBroadcast, func(g *golden, p *Packet, i int) {
		p.Broadcast = &broadcast.Packet{Header: g.castHeader(), Report: g.castReport(i % (timed.MaxNodes + 1))}
	}},
	{"broadcast plan", FrameBroadcast, func(g *golden, p *Packet, i int) {
		p.Broadcast = &broadcast.Packet{Header: g.castHeader(), Plan: g.castPlan(1+i%20, i%17)}
	}},
	{"broadcast commit", FrameBroadcast, func(g *golden, p *Packet, i int) {
		p.Broadcast = &broadcast.Packet{Header: g.castHeader(), Commit: g.castCommit(i%12, i%90)}
	}},
}

func goldenRuns(g *golden, p *Packet, i int) {
	c := &broadcast.Packet{Header: g.castHeader()}
	p.Broadcast = c
	switch i {
	case 0: // the largest run, of the smallest messages
		c.Runs = []broadcast.Run{g.run(broadcast.MaxRun, 1, false)}
	case 1: // the largest message
		c.Runs = []broadcast.Run{g.run(1, broadcast.MaxPacketBytes, true)}
	case 2: // many runs
		for range 1000 {
			c.Runs = append(c.Runs, g.run(1, 0, true))
		}
	default:
		for range 1 + i%4 {
			c.Runs = append(c.Runs, g.run(1+g.below(40), g.below(300), g.below(2) == 0))
		}
		if i%3 == 0 {
			c.Runs[0].Deviation = clocksync.UnknownBound
		}
	}
}

func goldenDecisions(g *golden, p *Packet, i int) {
	c := &broadcast.Packet{Header: g.castHeader()}
	p.Broadcast = c
	switch i {
	case 0:
		for range 1024 {
			c.Decisions = append(c.Decisions, g.decision(1))
		}
	case 1:
		c.Decisions = []broadcast.Decision{g.decision(2 * timed.MaxNodes)}
	default:
		for range 1 + i%9 {
			c.Decisions = append(c.Decisions, g.decision(i%21))
		}
	}
}

func goldenWants(g *golden, p *Packet, i int) {
	c := &broadcast.Packet{Header: g.castHeader()}
	p.Broadcast = c
	if i%2 == 0 {
		c.Log.From = g.uint(1, broadcast.MaxSequence)
		c.Log.To = g.uint(c.Log.From, broadcast.MaxSequence)
	}
	for range 1 + i%100 {
		c.Wants = append(c.Wants, g.want())
	}
}

// goldenEverything fills all frames, with a broadcast frame of all sections.
func goldenEverything(g *golden, p *Packet, i int) {
	for k := range goldenFrames {
		goldenFrames[k].fill(g, p, 3+i)
	}
	p.Broadcast = &broadcast.Packet{Header: g.castHeader(), Runs: []broadcast.Run{g.run(3, 100, false)},
		Decisions: []broadcast.Decision{g.decision(4)}, Wants: []broadcast.Want{g.want()}, Log: broadcast.Span{From: 1, To: g.uint(1, broadcast.MaxSequence)},
		Done: g.viewID(), Report: g.castReport(5), Plan: g.castPlan(2, 3), Commit: g.castCommit(2, 3)}
}

const (
	goldenFile   = "testdata/golden%d.txt" // of a version
	goldenEach   = 300                     // packets of every kind and mode
	goldenPacket = 1 << 18
)

// TestBytesOnTheWireNeverChange pins the bytes of the last three versions of the wire format.
// testdata holds one digest of the packets of each kind. A digest that differs
// means that this build and older ones no longer understand each other.
func TestBytesOnTheWireNeverChange(t *testing.T) {
	for _, version := range []uint8{Version - 2, Version - 1, Version} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) { goldenVersion(t, version) })
	}
}

func goldenVersion(t *testing.T, version uint8) {
	want, err := os.ReadFile(fmt.Sprintf(goldenFile, version))
	require.NoError(t, err)
	var got strings.Builder
	e, d := Encoder{MaxPacket: goldenPacket}, Decoder{}
	var decoded Packet
	for seed, kind := range append(slices.Clone(goldenFrames), goldenKind{"everything", AllFrames, goldenEverything},
		goldenKind{"settings", 0, func(g *golden, p *Packet, i int) { *p = Packet{Header: p.Header, Settings: g.settings(i)} }},
		goldenKind{"utc unknown", FrameUTC, func(g *golden, p *Packet, _ int) { g.proof(p) }}) {
		for mode, name := range [...]string{goldenRandom: "random", goldenLeast: "least", goldenMost: "most"} {
			what := kind.name + ", " + name
			g := golden{version: version, state: uint64(seed), mode: goldenMode(mode)}
			digest, bytes := sha256.New(), 0
			for i := range goldenEach {
				var p Packet
				g.hello(&p)
				kind.fill(&g, &p, i)
				p.Frames = kind.frames
				b, err := e.Append(nil, &p)
				require.NoError(t, err, "%s %d", what, i)
				fmt.Fprintf(digest, "%d:", len(b))
				digest.Write(b)
				bytes += len(b)

				require.NoError(t, d.Decode(b, &decoded), "%s %d", what, i)
				again, err := e.Append(nil, &decoded)
				require.NoError(t, err)
				require.Equal(t, b, again, "%s %d: a decoded packet is encoded in the same bytes", what, i)

				FinishWhole(b, g.stamp(), g.uint(0, math.MaxUint64))
				digest.Write(b[:HeaderSize+checksumSize])
			}
			fmt.Fprintf(&got, "%s: %d packets, %d bytes, %x\n", what, goldenEach, bytes, digest.Sum(nil))
		}
	}
	require.Equal(t, string(want), got.String(), "the bytes on the wire have changed")
}
