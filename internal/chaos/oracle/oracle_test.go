package oracle

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = int64(time.Millisecond)

// at returns a record with readings of the clock around an instant in milliseconds.
func at(t int64, r Record) Record {
	r.From, r.To = t*ms-1000, t*ms+1000
	if r.Group == "" {
		r.Group = "g"
	}
	return r
}

// forged makes a history of one log for each node, from 1 on.
func forged(logs ...[]Record) *History {
	h := &History{}
	for i, records := range logs {
		h.Logs = append(h.Logs, &Log{Node: i + 1, Process: 1, Records: records})
	}
	return h
}

func rules(h *History) (names []string) {
	for _, v := range Judge(h, Limits{Most: Use{5, 5, 500, 1000}, Settled: Use{2, 2, 200, 400}}).Violations {
		names = append(names, v.Rule)
	}
	return names
}

func global(t, since int64) Record {
	return at(t, Record{Kind: Global, Boot: 7, Since: since, AtMost: 80 * ms})
}

func TestTwoGlobalLeadersAreSeen(t *testing.T) {
	one := []Record{global(0, 1), global(50, 1)}
	require.Empty(t, rules(forged(one, []Record{global(51, 1), global(90, 1)})))
	require.Equal(t, []string{"one global leader at a time"}, rules(forged(one, []Record{global(49, 1), global(90, 1)})))
	require.Equal(t, []string{"one global leader at a time"}, rules(forged(one, []Record{global(25, 1)})), "once, in the middle")
	require.Empty(t, rules(forged([]Record{global(0, 1)}, []Record{global(0, 1)})), "each may have held a little before the other")
	require.Empty(t, rules(forged([]Record{global(0, 1), global(50, 2)}, []Record{global(25, 1)})), "between two leads")
	ended := []Record{global(0, 1), global(1000, 1)}
	require.NotEmpty(t, rules(forged(ended, []Record{global(500, 1)})), "one lead, however seldom it was asked for")
}

func TestAContextThatOutlivesTheLeadIsSeen(t *testing.T) {
	context := func(t int64) Record { return at(t, Record{Kind: Context, Boot: 7, Number: 1}) }
	require.Empty(t, rules(forged([]Record{context(0), context(40)}, []Record{global(41, 1)})))
	require.Equal(t, []string{"one global leader at a time"}, rules(forged([]Record{context(0), context(40)}, []Record{global(39, 1)})))
	require.Empty(t, rules(forged([]Record{context(0), context(40), global(39, 1)})), "it may lead itself")
}

func TestALeadDuringAHoldIsSeen(t *testing.T) {
	hold := at(0, Record{Kind: Hold, Boot: 7, Until: 60 * ms})
	require.Empty(t, rules(forged([]Record{hold}, []Record{global(61, 1), global(99, 1)})))
	require.Equal(t, []string{"one global leader at a time"}, rules(forged([]Record{hold}, []Record{global(59, 1), global(99, 1)})))
	local := at(0, Record{Kind: HoldLocal, Boot: 7, Until: 60 * ms})
	require.Equal(t, []string{"a node supports one leader at a time"}, rules(forged([]Record{local}, []Record{lead(30, 1, 2)})))
	require.Empty(t, rules(forged([]Record{local}, []Record{lead(30, 2)})))
}

func lead(t int64, set ...int) Record {
	return at(t, Record{Kind: Lead, Boot: 7, Since: 1, Set: set, AtMost: 80 * ms})
}

func TestSupportOfTwoIsSeen(t *testing.T) {
	apart := [][]Record{{lead(0, 1, 3), lead(40, 1, 3)}, {lead(20, 2)}}
	require.Empty(t, rules(forged(apart...)))
	both := [][]Record{{lead(0, 1, 3), lead(40, 1, 3)}, {lead(20, 2, 3)}}
	require.Equal(t, []string{"a node supports one leader at a time"}, rules(forged(both...)))
	follow := func(t int64, leader string) Record {
		return at(t, Record{Kind: Follow, Leader: leader, AtMost: 80 * ms})
	}
	third := [][]Record{{lead(0, 1, 3), lead(40, 1, 3)}, nil, {follow(20, incarnation(1, 7))}}
	require.Empty(t, rules(forged(third...)))
	third[2] = []Record{follow(20, incarnation(2, 7))}
	require.Equal(t, []string{"a node supports one leader at a time"}, rules(forged(third...)))
	require.Empty(t, rules(forged([]Record{lead(0, 1, 3), lead(200, 1, 3)}, []Record{lead(100, 2, 3)})), "the lease may have lapsed between")
	handed := []Record{follow(0, incarnation(2, 7)), lead(20, 1, 3), lead(40, 1, 3), follow(50, incarnation(2, 7))}
	require.Empty(t, rules(forged(handed, []Record{lead(0, 2, 1), lead(10, 2, 1)})), "it followed, led, and handed over")
	handed[0], handed[1] = handed[1], handed[0]
	require.Empty(t, rules(forged(handed)), "answers are written down a little late")
	require.NotEmpty(t, rules(forged(handed, []Record{lead(30, 2, 1)})))
	require.Equal(t, []string{"a leader supports itself"}, rules(forged([]Record{lead(0, 2)})))
}

func TestOverlappingViewsAreSeen(t *testing.T) {
	view := func(t int64, id string, set ...int) Record {
		return at(t, Record{Kind: View, View: id, Set: set, AtMost: 80 * ms})
	}
	require.Empty(t, rules(forged([]Record{view(0, "v", 1, 2), view(40, "v", 1, 2)}, []Record{view(20, "v", 1, 2)})))
	require.Empty(t, rules(forged([]Record{view(0, "v", 1, 3), view(40, "v", 1, 3)}, []Record{view(20, "w", 2)})))
	require.Equal(t, []string{"up-to-date views are the same or have no member in common"},
		rules(forged([]Record{view(0, "v", 1, 2), view(40, "v", 1, 2)}, []Record{view(20, "w", 2)})))
	installed := func(t int64, id string, sequence uint64, members ...string) Record {
		return at(t, Record{Kind: Installed, View: id, Boot: 7, Sequence: sequence, Members: members})
	}
	a, b := incarnation(1, 7)+" from none", incarnation(2, 7)+" from none"
	require.Empty(t, rules(forged([]Record{installed(0, "v", 1, a, b)}, []Record{installed(0, "v", 1, a, b)})))
	require.Equal(t, []string{"a view id names one view"}, rules(forged([]Record{installed(0, "v", 1, a)}, []Record{installed(0, "v", 1, a, b)})))
	require.Equal(t, []string{"a node is a member of its view"}, rules(forged([]Record{installed(0, "v", 1, b)})))
	require.Equal(t, []string{"view ids grow"}, rules(forged([]Record{installed(0, "v", 2, a), installed(1, "w", 2, a)})))
}

func TestWrongClocksAreSeen(t *testing.T) {
	clock := func(t, shows, deviation int64) Record {
		return at(t, Record{Kind: Clock, Timeline: "l", Time: shows, Deviation: deviation})
	}
	require.Empty(t, rules(forged([]Record{clock(0, 5000*ms, ms/2)}, []Record{clock(10, 5010*ms, ms/2)})))
	require.Empty(t, rules(forged([]Record{clock(0, 5000*ms, ms)}, []Record{clock(10, 5011*ms, ms)})))
	require.Len(t, rules(forged([]Record{clock(0, 5000*ms, ms/2)}, []Record{clock(10, 5012*ms, ms/2)})), 1)
	require.Len(t, rules(forged([]Record{clock(0, 5000*ms, ms/2)}, []Record{clock(10, 5008*ms, ms/2)})), 1)
	require.Equal(t, []string{"a clock does not run backwards on a timeline"}, rules(forged([]Record{clock(0, 5000*ms, ms), clock(10, 4999*ms, 20*ms)})))
}

func sample(t int64, u Use) Record {
	return at(t, Record{Kind: Sample, Goroutines: u.Goroutines, Files: u.Files, Live: u.Live, Resident: u.Resident})
}

func TestGrowthAndEventsAreSeen(t *testing.T) {
	first := []Record{sample(0, Use{1, 1, 1, 1}), sample(1, Use{20, 20, 1000, 2000})}
	require.Empty(t, rules(forged(append(first, sample(2, Use{25, 25, 1500, 3000})))))
	for _, last := range []Use{{26, 20, 1000, 2000}, {20, 26, 1000, 2000}, {20, 20, 1501, 2000}, {20, 20, 1000, 3001}} {
		require.Equal(t, []string{"nothing grows"}, rules(forged(append(first, sample(2, last)))))
	}
	require.Equal(t, []string{"nodes report no fault of their own"}, rules(forged([]Record{at(0, Record{Kind: Event, Text: "inconsistent"})})))
}

// A process may grow for five minutes. Afterwards its slope counts, and not the noise.
func TestTheSlopeOfOldProcessesIsJudged(t *testing.T) {
	minutes := func(n int64, of func(minute int64) Use) (list []Record) {
		for i := range n + 1 {
			list = append(list, sample(i*60_000, of(i)))
		}
		return list
	}
	flat := func(i int64) Use { return Use{Live: 450 + 40*(i%2), Resident: 90 * min(i, 5)} }
	require.Empty(t, rules(forged(minutes(30, flat))))
	v := Judge(forged(minutes(30, flat)), Limits{Most: Use{Live: 1000, Resident: 1000}, Settled: Use{Live: 200}})
	require.Equal(t, 25*time.Minute, v.Growth[0].Settled)
	require.InDelta(t, 0, v.Growth[0].Slope.Live, 5)
	require.Zero(t, v.Growth[0].Slope.Resident)
	rising := func(i int64) Use { return Use{Live: 16 * i} }
	require.Equal(t, []string{"nothing grows"}, rules(forged(minutes(20, rising))))
	require.Empty(t, rules(forged(minutes(9, rising))), "too young")
}

func TestHealingsAreJudged(t *testing.T) {
	heal := func(took, late int64, missing string) *History {
		return forged([]Record{{Kind: Heal, From: 0, To: took * ms, Bound: 100 * ms, Late: late * ms, Text: missing}})
	}
	judge := func(h *History) *Verdict {
		return Judge(h, Limits{Lateness: 5 * time.Millisecond, Slack: 50 * time.Millisecond})
	}
	require.Empty(t, judge(heal(150, 0, "")).Violations)
	require.Len(t, judge(heal(151, 0, "")).Violations, 1)
	late := judge(heal(151, 6, ""))
	require.Empty(t, late.Violations)
	require.Equal(t, 1, late.Excused)
	require.Len(t, judge(heal(151, 6, "no view")).Violations, 1, "never whole")
}

// The oracle must not repeat a mistake of the nodes.
func TestTheOracleSharesNoCodeWithTheNodes(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for dep := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(dep, "github.com/failaware/failaware") {
			require.Equal(t, "github.com/failaware/failaware/internal/chaos/oracle", dep)
		}
	}
}

// Who repeats a run, or reads a log twice, compares texts.
func TestAHistoryHasOneVerdict(t *testing.T) {
	clock := func(node int64, line string) Record {
		return at(node, Record{Kind: Clock, Timeline: line, Time: 1000 * ms * node})
	}
	strict := func(r *Record) { r.Strict = true }
	var h History
	for node := range int64(4) {
		var c, d client
		for n := range int64(4) {
			c.do(10*n, 10*n+5, uint64(100*node+n+1), 0, Done)
			d.do(10*n, 10*n+5, uint64(1000*node+n+1), 0, Done)
		}
		for i := range d.records {
			d.records[i].Key, d.records[i].Number = "l", d.records[i].Number+10
		}
		l := &Log{Node: int(node) + 1, Process: 1, Records: slices.Concat(c.records, d.records,
			[]Record{clock(node, "l"), clock(node, "m")},
			[]Record{decided(10*node, "a", 100-uint64(node), node, 100), at(node, Record{Kind: Epoch, Epoch: 5}), at(node+10, Record{Kind: Epoch, Epoch: 4})},
			[]Record{lead(node, 1, 2, 3, 4), lead(node+40, 1, 2, 3, 4), changeTo("v")})}
		if node == 0 {
			l.Records = append(l.Records, sent(1), sent(2), sent(3), given(1, strict), given(2, strict), given(3, strict))
		}
		l.Records = append(l.Records, changeTo("w"))
		h.Logs = append(h.Logs, l)
	}
	first := Judge(&h, Limits{})
	found := map[string]int{}
	for _, v := range first.Violations {
		found[v.Rule]++
	}
	for _, rule := range []string{"replicated registers are linearizable", "readings of one timeline agree within their deviations",
		"edicts and timestamps show their order", "a node supports one leader at a time", "a node never returns to an earlier epoch",
		"no member leaves a view without a strict message of it"} {
		require.Greater(t, found[rule], 1, rule)
	}
	for range 20 {
		require.Equal(t, first.Violations, Judge(&h, Limits{}).Violations)
	}
}

func TestLogsAreRead(t *testing.T) {
	dir := t.TempDir()
	text := `{"k":"global","g":"a","b":1,"e":2,"boot":18446744073709551615}` + "\n" + `{"k":"glo`
	require.NoError(t, os.WriteFile(filepath.Join(dir, Name(2, 3)), []byte(text), 0o600))
	h, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, h.Logs, 1)
	require.Equal(t, 2, h.Logs[0].Node)
	require.Equal(t, []Record{{Kind: Global, Group: "a", From: 1, To: 2, Boot: 1<<64 - 1}}, h.Logs[0].Records, "a line that was cut off is left out")
	require.NoError(t, os.WriteFile(filepath.Join(dir, Name(2, 4)), []byte("{}\nnonsense\n"), 0o600))
	_, err = Load(dir)
	require.ErrorContains(t, err, "line 2")
}
