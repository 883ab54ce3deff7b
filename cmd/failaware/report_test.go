package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// span is the time of a claim.
type span struct {
	claim
	end int64
}

// spans reads a report.
func spans(t require.TestingT, path string) (all []span) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	open := map[string][]int{} // a grant and its renewals, which end together
	for line := range strings.Lines(string(b)) {
		var c claim
		require.NoError(t, json.Unmarshal([]byte(line), &c), line)
		kind, ends := strings.CutSuffix(c.Kind, "_end")
		if ends {
			require.NotEmpty(t, open[kind], line)
			for _, i := range open[kind] {
				all[i].end = min(all[i].end, c.At)
			}
			delete(open, kind)
			continue
		}
		require.Less(t, c.GrantedAt, c.Until, line)
		if !c.Renewal {
			open[kind] = nil
		}
		require.Equal(t, c.Renewal, len(open[kind]) > 0, line)
		open[kind] = append(open[kind], len(all))
		all = append(all, span{c, c.Until})
	}
	return all
}

// audit checks that no two leads of one logical partition, and no two different
// up-to-date views with a common member, were claimed for the same time. All reports
// are of one machine.
func audit(t require.TestingT, paths []string) {
	var all []span
	for _, p := range paths {
		all = append(all, spans(t, p)...)
	}
	leads, views := 0, 0
	for i, a := range all {
		switch a.Kind {
		case "lead":
			leads++
			require.Contains(t, a.Support, a.Node)
		case "view":
			views++
			require.Contains(t, a.Members, a.Node)
		}
		for _, b := range all[i+1:] {
			if a.Kind != b.Kind || a.GrantedAt >= b.end || b.GrantedAt >= a.end {
				continue
			}
			if a.Kind == "lead" && (a.Node != b.Node || a.Boot != b.Boot) {
				require.False(t, common(a.Support, b.Support), "two leaders: %+v %+v", a, b)
			}
			if a.Kind == "global" {
				require.Equal(t, a.Node, b.Node, "two global leaders: %+v %+v", a, b)
				require.Equal(t, a.Boot, b.Boot, "two global leaders: %+v %+v", a, b)
			}
			if a.Kind == "view" && a.View != b.View {
				require.False(t, common(a.Members, b.Members), "two views: %+v %+v", a, b)
			}
		}
	}
	require.NotZero(t, leads)
	require.NotZero(t, views)
}

func common(a, b []int) bool {
	return slices.ContainsFunc(a, func(id int) bool { return slices.Contains(b, id) })
}

func TestReportSaysGrantsRenewalsAndEnds(t *testing.T) {
	path := filepath.Join(shortDir(t), "report")
	r, err := openReport(path, hclog.NewNullLogger())
	require.NoError(t, err)
	self := failaware.Incarnation{Node: 1, Boot: 7}
	v := &failaware.View{ID: failaware.ViewID{Sequence: 3, Leader: 1, Boot: 7}, Set: timed.SetOf(1, 2)}
	state := failaware.Published{Turn: 10, Done: 11, Self: self}
	r.published(state) // nothing is claimed
	state = failaware.Published{Turn: 20, Done: 21, Self: self, Leading: true, LeadUntil: 100, Support: timed.SetOf(1, 2)}
	r.published(state)
	state.Turn, state.Done, state.LeadUntil, state.View, state.ViewUntil = 50, 51, 150, v, 140
	r.published(state)
	state.Turn, state.Done, state.Support = 60, 61, timed.SetOf(1, 2, 3)
	state.Global, state.GlobalUntil = true, 145
	r.published(state)
	state.Turn, state.Done, state.GlobalUntil = 62, 63, 150
	r.published(state)
	state.Turn, state.Done, state.Leading, state.ViewUntil, state.Global = 70, 73, false, 0, false
	r.published(state)
	r.published(state)

	all := spans(t, path)
	require.Len(t, all, 6)
	type short struct {
		kind       string
		from, end  int64
		renewal    bool
		who, text  string
		era        uint32
		node, size int
	}
	var got []short
	for _, s := range all {
		got = append(got, short{s.Kind, s.GrantedAt, s.end, s.Renewal, s.Boot, s.View, s.Era, s.Node, len(s.Support) + len(s.Members)})
	}
	boot := failaware.BootID(7).String()
	require.Equal(t, []short{
		{"lead", 20, 61, false, boot, "", 0, 1, 2},
		{"lead", 50, 61, true, boot, "", 0, 1, 2},
		{"view", 50, 73, false, boot, v.ID.String(), 0, 1, 2},
		{"lead", 60, 73, false, boot, "", 0, 1, 3},
		{"global", 60, 73, false, boot, "", 0, 1, 0},
		{"global", 62, 73, true, boot, "", 0, 1, 0},
	}, got)
}

// A claim that has run out before the node ends it has ended then. What follows is no renewal.
func TestReportOfAnEndThatComesLate(t *testing.T) {
	path := filepath.Join(shortDir(t), "report")
	r, err := openReport(path, hclog.NewNullLogger())
	require.NoError(t, err)
	state := failaware.Published{Turn: 20, Done: 21, Self: failaware.Incarnation{Node: 1, Boot: 7}, Leading: true, LeadUntil: 100, Support: timed.SetOf(1, 2)}
	r.published(state)
	state.Turn, state.Done, state.LeadUntil = 150, 151, 200
	r.published(state)
	state.Turn, state.Done, state.Leading = 250, 251, false
	r.published(state)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	boot := failaware.BootID(7).String()
	want := []claim{{Kind: "lead", GrantedAt: 20, Until: 100, Support: []int{1, 2}}, {Kind: "lead_end", At: 100},
		{Kind: "lead", GrantedAt: 150, Until: 200, Support: []int{1, 2}}, {Kind: "lead_end", At: 200}}
	require.Len(t, lines, len(want))
	for i := range want {
		var c claim
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &c))
		want[i].Node, want[i].Boot = 1, boot
		require.Equal(t, want[i], c)
	}
}

func TestReportWhoseFileFailsEnds(t *testing.T) {
	r, err := openReport(filepath.Join(shortDir(t), "report"), hclog.NewNullLogger())
	require.NoError(t, err)
	require.NoError(t, r.file.Close())
	for i := range 3 {
		r.published(failaware.Published{Self: failaware.Incarnation{Node: 1, Boot: 1}, Leading: true,
			LeadUntil: timed.Instant(10 + i), Support: timed.SetOf(1)})
	}
	require.Nil(t, r.file)
}

// A process that was killed may have left a part of a line. The next process begins its own.
func TestReportBeginsALineOfItsOwn(t *testing.T) {
	path := filepath.Join(shortDir(t), "report")
	cut := `{"kind":"lead","node":1,"memb`
	require.NoError(t, os.WriteFile(path, []byte(cut), 0o600))
	for range 2 {
		r, err := openReport(path, hclog.NewNullLogger())
		require.NoError(t, err)
		r.published(failaware.Published{Self: failaware.Incarnation{Node: 1, Boot: 1}, Leading: true, LeadUntil: 10, Support: timed.SetOf(1)})
		require.NoError(t, r.file.Close())
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(string(b), "\n")
	require.Len(t, lines, 4, "no line is empty but the last")
	require.Equal(t, cut, lines[0])
	require.True(t, json.Valid([]byte(lines[1])) && json.Valid([]byte(lines[2])))
}
