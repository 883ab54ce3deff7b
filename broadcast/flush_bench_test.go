package broadcast

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// reportsOf returns the reports of the members of a view that come from one view of as many. Each
// lacks messages of each, if lack says so.
func reportsOf(v *membership.View, lack bool) (out []*Report) {
	for i := range v.Members {
		r := &Report{Proposal: v.ID, Previous: membership.ViewID{Sequence: 1, Leader: 1, Boot: 1}, Have: 7}
		for j := range v.Members {
			m := v.Members[j].Incarnation
			mark := Mark{m.Node, m.Boot, 7}
			r.Acks, r.Ordered = append(r.Acks, mark), append(r.Ordered, mark)
			if i != j && lack {
				mark.Sequence--
			}
			r.Unordered = append(r.Unordered, mark)
		}
		out = append(out, r)
	}
	return out
}

// BenchmarkPlan measures the plan of a flush.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{3, 40, 255} {
		for _, lack := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/lack=%v", n, lack), func(b *testing.B) {
				v := viewOf(2, members(n)...)
				s := New(Config{Self: incarnation(0), Timing: timed.LAN()})
				reports := reportsOf(v, lack)
				for b.Loop() {
					s.freeze = freeze{on: true, lead: true, proposal: v.ID, view: v, reports: reports}
					s.makePlan(0)
				}
			})
		}
	}
}

// BenchmarkFlush has a group change its view. The leader takes no more than 200 packets in a
// millisecond: so many fill a buffer of the usual size. It counts the packets that come to it in
// the worst millisecond, and in all.
func BenchmarkFlush(b *testing.B) {
	for _, n := range []int{3, 16, 40, 64, 128, 255} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				flushOnce(b, n)
			}
		})
	}
}

func flushOnce(b *testing.B, n int) {
	t := newTrio(n, Config{})
	v := viewOf(2, members(n)...)
	for i := range t.nodes { // so that there are positions
		for _, o := range []Order{Unordered, TotalOrder} {
			_, err := t.cast(i, []byte("x"), Options{o, WeakAtomicity})
			require.NoError(b, err)
		}
	}
	for range 3 {
		t.turn()
		t.now += timed.Instant(time.Millisecond)
	}
	r := rand.New(rand.NewPCG(1, 1))
	here, most, all := 0, 0, 0
	t.drop = func(_, to int, p *Packet) bool {
		if to == 0 && p.Report != nil {
			here++
		}
		return here > 200
	}
	for i, s := range t.nodes {
		s.Freeze(t.now, v, i == 0)
	}
	start := t.now
	for !t.nodes[0].Ready(v.ID) && t.now.Sub(start) < 10*time.Second {
		for _, i := range r.Perm(n) {
			t.act(i)
		}
		most, all, here = max(most, here), all+here, 0
		t.now += timed.Instant(time.Millisecond)
	}
	b.ReportMetric(float64(most), "reports/ms")
	b.ReportMetric(float64(all), "reports")
	b.ReportMetric(t.now.Sub(start).Seconds()*1000, "virtual-ms")
}
