package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/bench"
)

func TestBothLeadWhileTheirAnswersOverlap(t *testing.T) {
	b := &Belief{}
	const ms = int64(time.Millisecond)
	// Node 1 led until it was stopped at 10 ms. Node 2 leads from 30 ms on; node 1 goes on at
	// 100 ms and says for 2 ms, eleven times, that it leads.
	require.NoError(t, b.add([][]spell{{{0, 10 * ms, 100}, {100 * ms, 102 * ms, 11}}, {{30 * ms, 200 * ms, 1700}}, nil}, 1, 10*ms))
	require.Equal(t, &Belief{Faults: 1, Both: 2 * time.Millisecond, Answers: 11, Next: 20 * time.Millisecond}, b)

	// One wrong answer is one, although it takes no time.
	b = &Belief{}
	require.NoError(t, b.add([][]spell{{{50 * ms, 50 * ms, 1}}, {{30 * ms, 200 * ms, 1700}}}, 1, 10*ms))
	require.Equal(t, 1, b.Answers)
	require.Zero(t, b.Both)

	require.ErrorContains(t, (&Belief{}).add([][]spell{{{0, 10 * ms, 100}}, nil}, 1, 5*ms), "no other node")
}

func TestAnOldLeaderThatIsSilentIsNotWrong(t *testing.T) {
	b := &Belief{}
	require.NoError(t, b.add([][]spell{{{0, 10, 5}}, {{30, 200, 17}}}, 1, 10))
	require.Zero(t, b.Answers)
}

func TestAMessageHasComeWhenTheLastNodeHasIt(t *testing.T) {
	all, lost := together([]*count{
		{Traces: []trace{{1, 100, 150}, {2, 200, 210}}},
		{Traces: []trace{{1, 100, 130}}},
	})
	require.Equal(t, 1, lost)
	require.Equal(t, 1, all.Count)
	require.Equal(t, time.Duration(50), all.Max)
}

func TestLeadersAreReadFromTheLogOfEtcd(t *testing.T) {
	l := newEtcdLog()
	line := func(id int, msg string) (int, bool) { return l.read(id, `{"level":"info","msg":"`+msg+`"}`) }
	l.read(1, "no JSON")
	for id, name := range map[int]string{1: "23284278a2d8a0e6", 2: "30c4ca1b20b5f91e", 3: "cc4a03f30001902d"} {
		_, ok := line(id, name+" became follower at term 1")
		require.False(t, ok)
	}
	leader, ok := line(1, "raft.node: 23284278a2d8a0e6 elected leader 30c4ca1b20b5f91e at term 8")
	require.True(t, ok)
	require.Equal(t, 2, leader)
	leader, ok = line(3, "raft.node: cc4a03f30001902d changed leader from 30c4ca1b20b5f91e to 23284278a2d8a0e6 at term 9")
	require.True(t, ok)
	require.Equal(t, 1, leader)
	leader, ok = line(3, "raft.node: cc4a03f30001902d lost leader 30c4ca1b20b5f91e at term 9")
	require.True(t, ok)
	require.Zero(t, leader)
}

func TestLeadersAreReadFromTheLogOfNATS(t *testing.T) {
	for line, want := range map[string]int{
		"[1] 2026/11/22 22:27:31.568305 [INF] JetStream cluster new metadata leader: n2/peers": 2,
		"[1] 2026/11/22 22:27:31.567774 [INF] Self is new JetStream cluster metadata leader":   3,
		"[1] 2026/11/22 22:27:31.567774 [INF] JetStream cluster no metadata leader":            0,
	} {
		leader, ok := newNATSLog().read(3, line)
		require.True(t, ok, line)
		require.Equal(t, want, leader, line)
	}
	_, ok := newNATSLog().read(3, "[1] [INF] Server is ready")
	require.False(t, ok)
}

func TestANodeThatSeesNoLeaderForAWhileIsAGapAndNoChange(t *testing.T) {
	g := &group{sys: systems["hashicorp/raft"], use: forLeading, changed: make(chan struct{})}
	for id := 1; id <= 3; id++ {
		g.nodes = append(g.nodes, &node{id: id})
	}
	see := func(leaders ...int) {
		for _, leader := range leaders {
			g.saw(1, func(v *view) { v.Leader = leader })
		}
	}
	see(2, 0, 2)
	require.Equal(t, []int{1, 1}, []int{g.changes, g.gaps})
	see(3)
	require.Equal(t, []int{2, 1}, []int{g.changes, g.gaps})
	require.False(t, g.whole())
	for id := 1; id <= 3; id++ {
		g.saw(id, func(v *view) { v.Leader = 3 })
	}
	require.True(t, g.whole())
	leader, _ := g.agreed(3)
	require.False(t, leader, "node 3 is gone")
}

func TestResultsAreShownAndDrawn(t *testing.T) {
	some := bench.Summarize([]time.Duration{20 * time.Millisecond, 30 * time.Millisecond})
	r := &Result{Date: "2026-11-22", Nodes: 3, Versions: map[string]string{"etcd": "3.4.23"}, Skipped: map[string]string{"corosync": "it is missing"},
		Leading:  []*Leading{{System: "failaware", Tight: true, Settings: "timing Local", Leader: &some, Stop: &Belief{Faults: 1}, Idle: &Idle{CPU: 1.5, Resident: 20}}},
		Messages: []*Messages{{System: "etcd", Flavour: "put and watch", Size: 64, Saturated: 1234, Slow: some}},
		Stored:   []*Stored{{System: "etcd", Saturated: 12_345, Callers: 768}}}
	var file, text, again, svg bytes.Buffer
	require.NoError(t, encode(&file, r))
	require.NoError(t, r.markdown(&text))
	for _, part := range []string{"20 ms / 30 ms", "never", "| 1.50 | 20 |", "| 1234 |", "| 12 k | 768 |", "corosync was skipped: it is missing."} {
		require.Contains(t, text.String(), part)
	}
	path := t.TempDir() + "/r.json"
	require.NoError(t, save(path, func(w io.Writer) error { _, err := w.Write(file.Bytes()); return err }))
	same, err := load(path)
	require.NoError(t, err)
	require.NoError(t, same.markdown(&again))
	require.Equal(t, text.String(), again.String())
	require.NoError(t, r.draw(&svg))
	require.Contains(t, svg.String(), "12 k")
}

func TestWrongChoicesAreRefusedByName(t *testing.T) {
	for args, want := range map[string]string{
		"--only zookeeper": "--only zookeeper", "--parts x": "--parts x", "--nodes 2": "--nodes 2", "more": `"more"`, "draw": "draw FILE.json",
		"show /nonexistent": "/nonexistent", "hog 0 1s": "threads", "hog 1 x": "duration",
	} {
		require.ErrorContains(t, do(strings.Fields(args), nil, io.Discard, io.Discard), want, args)
	}
}

func TestASystemWhoseProgramIsMissingSaysWhichPackageHasIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.Contains(t, systems["etcd"].missing(&network{}), "apt-get install etcd-server")
	require.Contains(t, systems["corosync"].missing(&network{}), "root")
	require.Empty(t, systems["failaware"].missing(&network{}))
}

// published is the run that the documentation is about.
func published(t *testing.T) *Result {
	r, err := load("../../docs/figures/peers.json")
	require.NoError(t, err)
	return r
}

func TestTheDocumentationShowsThePublishedRun(t *testing.T) {
	r := published(t)
	var text, svg bytes.Buffer
	require.NoError(t, r.markdown(&text))
	page, err := os.ReadFile("../../docs/reference/benchmarks.md")
	require.NoError(t, err)
	require.True(t, strings.Contains(string(page), strings.TrimSpace(text.String())), "put this into docs/reference/benchmarks.md:\n\n%s", &text)
	require.NoError(t, r.draw(&svg))
	picture, err := os.ReadFile("../../docs/figures/peers.svg")
	require.NoError(t, err)
	require.True(t, bytes.Equal(svg.Bytes(), picture), "docs/figures/peers.svg: run peers draw again")
}

func TestTheTableOfTheReadmeIsOfThePublishedRun(t *testing.T) {
	r := published(t)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for what, of := range map[string]func(name string) string{
		"from a crash to the next leader (memberlist, corosync: view), p50, shortest settings": func(name string) string {
			l := r.tightest(name)
			if l.Leader != nil {
				return show(l.Leader.P50)
			}
			return show(l.View.P50)
		},
		"64 B to 3 members, p50 at 100 a second": func(name string) string { return show(r.message(name, 64).Slow.P50) },
		"the same, a second at most":             func(name string) string { return rate(r.message(name, 64).Saturated) },
	} {
		row := "| " + what
		for _, name := range []string{"failaware", "etcd", "memberlist", "corosync"} {
			row += " | " + of(name)
		}
		require.Contains(t, string(readme), row+" | – |\n")
	}
}
