package demo

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/timed"
)

var update = flag.Bool("update", false, "rewrite the pictures")

// fixedModel is a model with one of everything: nodes 1 and 2 are cut off from 3, 4 and
// 5; 1 is paused, 5 has crashed, and 3 → 4 is slow.
func fixedModel() *Model {
	const ms, us = time.Millisecond, time.Microsecond
	view := func(sequence uint64, leader failaware.NodeID, ids ...failaware.NodeID) *failaware.View {
		return &failaware.View{ID: failaware.ViewID{Sequence: sequence, Leader: leader, Boot: 7}, Set: timed.SetOf(ids...)}
	}
	m := &Model{Elapsed: 83 * time.Second, Preset: "local", Timing: failaware.Local(), Rounds: 12_345}
	for id := failaware.NodeID(1); id <= 5; id++ {
		n := NodeModel{ID: id, State: Up, Partition: -1, Hears: make([]Hearing, 5)}
		for j := range n.Hears {
			n.Hears[j] = Hearing{Known: true, Alive: true, Fast: true, Bound: time.Duration(60+10*int(id)+j) * us}
			if (id <= 2) != (j < 2) {
				n.Hears[j] = Hearing{Known: true, Fast: true, Bound: 99 * us, Link: Link{Cut: true}}
			}
		}
		m.Nodes = append(m.Nodes, n)
	}
	n := m.Nodes
	n[0].State, n[0].For, n[0].StaleFor = Paused, 2300*ms, 2281*ms
	n[0].View = failaware.ViewAnswer{View: view(12, 1, 1, 2)}
	n[0].Clock.Deviation = math.MaxInt64
	n[1].Leader = failaware.LeaderAnswer{Leader: 2, Boot: 2, Leads: true, UpToDate: true, AtMost: 21 * ms, Support: timed.SetOf(2)}
	n[1].View = failaware.ViewAnswer{View: view(13, 2, 2), UpToDate: true, AtMost: 20 * ms}
	n[1].Clock = failaware.Reading{Status: clocksync.Internal}
	n[1].Hears[0] = Hearing{Known: true, Fast: true, Bound: 77 * us}
	n[2].Leader = failaware.LeaderAnswer{Leader: 3, Boot: 3, Leads: true, UpToDate: true, AtMost: 9 * ms, Support: timed.SetOf(3, 4)}
	n[2].View = failaware.ViewAnswer{View: view(107, 3, 3, 4), UpToDate: true, AtMost: 8500 * us}
	n[2].Clock = failaware.Reading{Status: clocksync.Internal}
	n[2].Late = 12
	n[3].Leader = failaware.LeaderAnswer{Leader: 3, Boot: 3, UpToDate: true, AtMost: 8 * ms}
	n[3].View, n[3].StaleFor = failaware.ViewAnswer{View: view(107, 3, 3, 4)}, 40*ms
	n[3].Clock = failaware.Reading{Status: clocksync.Internal, Deviation: 41 * us}
	n[3].Offset, n[3].OffsetKnown = -3200*time.Nanosecond, true
	n[3].Hears[2] = Hearing{Known: true, Bound: 7100 * us, Link: Link{Delay: 6 * ms}}
	n[2].Hears[4], n[3].Hears[4] = Hearing{Known: true, Fast: true, Bound: 60 * us}, Hearing{Bound: event.UnknownDelay}
	n[4].State, n[4].For = Crashed, 75*time.Second
	n[4].Clock.Deviation = math.MaxInt64
	m.group()
	m.Log = []Entry{
		{At: 3 * time.Second, Nodes: timed.SetOf(1, 2, 3, 4, 5), Kind: "view-installed", Text: "view 11@1: members {1 2 3 4 5}"},
		{At: 4 * time.Second, Kind: kindFault, Text: "the network is split into {1 2} and {3 4 5}"},
		{At: 4020 * ms, Nodes: timed.SetOf(1, 2), Kind: "peer-silent", Peers: timed.SetOf(3),
			Text: "node 3 is silent: its last packet in time came 20ms ago (last delay bound 80µs)"},
		{At: 4021 * ms, Nodes: timed.SetOf(1, 2), Kind: "peer-silent", Peers: timed.SetOf(4), Text: "node 4 is silent: not shown"},
		{At: 4022 * ms, Nodes: timed.SetOf(3), Kind: "following", Text: "follows nobody"},
		{At: 4030 * ms, Nodes: timed.SetOf(3), Kind: "elected", Text: "leads"},
	}
	return m
}

func TestPictures(t *testing.T) {
	broken := fixedModel()
	broken.Violations = []string{"nodes 2 and 3 lead at the same time"}
	for _, p := range []struct {
		name          string
		model         *Model
		face          Face
		width, height int
	}{
		{"wide", fixedModel(), Face{Selected: []failaware.NodeID{3, 4}, Hint: "3 → 4: slowed down by 6ms"}, 120, 26},
		{"usual", fixedModel(), Face{}, 80, 24},
		{"small", fixedModel(), Face{Hint: "the nodes of the selection are cut off from the others"}, 60, 20},
		{"low", fixedModel(), Face{}, 80, 17},
		{"narrow", fixedModel(), Face{Hint: "a hint that is longer than there is room for it here"}, 46, 14},
		{"tiny", fixedModel(), Face{}, 20, 5},
		{"help", fixedModel(), Face{Help: true}, 90, 30},
		{"broken", broken, Face{}, 80, 12},
	} {
		t.Run(p.name, func(t *testing.T) {
			got := plainText(Draw(p.model, &p.face, p.width, p.height))
			file := filepath.Join("testdata", p.name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// plainText returns a picture as text, without colours.
func plainText(c *Canvas) string {
	var b strings.Builder
	for y := range c.Height {
		line := make([]rune, c.Width)
		for x := range line {
			line[x] = c.At(x, y).Rune
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

// For any model and any size of the window, drawing succeeds and shows the keys for
// help and quit.
func TestPicturesOfAllSizes(t *testing.T) {
	for nodes := 2; nodes <= MaxNodes; nodes++ {
		m := &Model{Timing: failaware.Local()}
		for id := range nodes {
			m.Nodes = append(m.Nodes, NodeModel{ID: failaware.NodeID(id + 1), Partition: -1, Hears: make([]Hearing, nodes)})
		}
		m.Log = []Entry{{Text: strings.Repeat("long ", 100)}, {Nodes: timed.SetOf(1), Text: strings.Repeat("long ", 100)}}
		for width := 0; width < 150; width += 7 {
			for height := 0; height < 50; height += 3 {
				for _, help := range []bool{false, true} {
					got := plainText(Draw(m, &Face{Help: help, Selected: []failaware.NodeID{1}}, width, height))
					if width >= leastWidth && height >= leastHeight {
						require.Contains(t, got, "q quit", fmt.Sprint(nodes, width, height))
						require.Contains(t, got, "? help")
					}
				}
			}
		}
	}
}

func TestDurationsForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 µs", -1500: "-1.5 µs", 45 * time.Microsecond: "45 µs", 1250 * time.Microsecond: "1.2 ms",
		-98 * time.Millisecond: "-98 ms", 1025 * time.Millisecond: "1.02 s", 9999 * time.Millisecond: "9.99 s", 90 * time.Second: "90 s", event.UnknownDelay: "?",
	} {
		require.Equal(t, want, short(d))
	}
	require.Equal(t, "59.9 s", since(59900*time.Millisecond))
	require.Equal(t, "61:01", since(61*time.Minute+time.Second))
	require.Equal(t, []string{"0", "999", "1,000", "1,234,567"},
		[]string{thousands(0), thousands(999), thousands(1000), thousands(1234567)})
}
