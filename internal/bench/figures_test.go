package bench

import (
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHistogramCountsEverySample(t *testing.T) {
	samples := make([]time.Duration, 0, 1000)
	for i := range 1000 {
		samples = append(samples, 50*time.Microsecond+time.Duration(i)*time.Microsecond)
	}
	samples = append(samples, time.Second, 2*time.Second) // stragglers do not stretch the bins
	Summarize(samples)
	h := histogram(samples)
	sum := h.Beyond
	for _, n := range h.Counts {
		sum += n
	}
	require.Equal(t, len(samples), sum)
	require.GreaterOrEqual(t, h.Beyond, 2)
	require.LessOrEqual(t, h.Beyond, len(samples)/100)
	require.LessOrEqual(t, len(h.Counts), maxBins)
	require.Equal(t, 50*time.Microsecond, h.From)
	require.Empty(t, histogram(nil).Counts)
	require.Equal(t, []int{3}, histogram([]time.Duration{5, 5, 5}).Counts)
}

// results are those of two benchmarks, in the form of measurements.
func results() (*ElectionResult, *SplitResult) {
	spread := func(n int, unit time.Duration) (s []time.Duration) {
		for i := range 500 {
			s = append(s, time.Duration(n)*unit+time.Duration(i%37)*unit/10)
		}
		return s
	}
	e := &ElectionResult{Head: new(Setup).head(ElectionKind)}
	for n := 1; n <= 4; n++ {
		s := ElectionSize{Nodes: n, Election: Summarize(spread(n, time.Microsecond))}
		s.Distribution = histogram(spread(n, time.Microsecond))
		if n > 1 {
			s.Floor = s.Election
		}
		if n == 4 {
			s.Collated, s.CollatedDistribution = s.Election, s.Distribution
		}
		e.Sizes = append(e.Sizes, s)
	}
	p := &SplitResult{Head: (&Setup{Preset: "local"}).head(SplitKind), Nodes: 8, Halves: [2]int{4, 4}}
	p.Notice, p.NoticeDistribution = Summarize(spread(20, time.Millisecond)), histogram(spread(20, time.Millisecond))
	p.Elected, p.ElectedDistribution = p.Notice, p.NoticeDistribution
	return e, p
}

func TestFiguresOfResults(t *testing.T) {
	e, p := results()
	cost := func(n float64) CollationCost {
		return CollationCost{Received: n, CPU: 2 * n, Round: e.Sizes[1].Election}
	}
	c := &CollationResult{Head: (&Setup{Preset: "lan"}).head(CollationKind), Fanout: 4, Sizes: []CollationSize{
		{Nodes: 8, Direct: cost(7), Collated: cost(4)}, {Nodes: 16, Direct: cost(15), Collated: cost(5)}}}
	for _, c := range []struct {
		result any
		names  []string
		series int // in the first panel of the first figure
	}{{e, []string{"election-times", "election-means", "election-collated-4"}, 3}, {p, []string{"split-times"}, 1}, {c, []string{"collation"}, 2}} {
		data, err := json.Marshal(c.result)
		require.NoError(t, err)
		figures, err := Figures(data)
		require.NoError(t, err)
		require.Len(t, figures, len(c.names))
		for i, f := range figures {
			require.Equal(t, c.names[i], f.Name)
			require.NoError(t, f.Figure.Render(io.Discard))
		}
		require.Len(t, figures[0].Figure.Panels[0].Series, c.series)
	}
}

// The numbers in the picture are the measured ones, in its units.
func TestFiguresKeepTheNumbers(t *testing.T) {
	e, p := results()
	data, err := json.Marshal(e)
	require.NoError(t, err)
	figures, err := Figures(data)
	require.NoError(t, err)
	mean := figures[1].Figure.Panels[0].Series[0].Points
	require.Len(t, mean, 4)
	require.InDelta(t, float64(e.Sizes[3].Election.Mean)/1e3, mean[3].Y, 0.001)
	data, err = json.Marshal(p)
	require.NoError(t, err)
	figures, err = Figures(data)
	require.NoError(t, err)
	area, points := 0.0, figures[0].Figure.Panels[0].Series[0].Points
	for i, q := range points[:len(points)-1] {
		area += q.Y * (points[i+1].X - q.X)
	}
	require.InDelta(t, float64(p.Notice.Count-p.NoticeDistribution.Beyond), area, 0.5)
}

func TestWhatIsNoResult(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "not a benchmark's result",
		"[1]":                      "not a benchmark's result",
		"{}":                       `no "benchmark" in it`,
		`{"benchmark":"idle"}`:     `no pictures are drawn of benchmark "idle"`,
		`{"benchmark":"election"}`: "no elections",
		`{"benchmark":"election","sizes":[{"nodes":2,"election":{"count":1}}]}`: "one size only",
		`{"benchmark":"split"}`:                              "no splits",
		`{"benchmark":"split","n":1,"notice":{"count":"x"}}`: "not a result of this version",
	} {
		_, err := Figures([]byte(in))
		require.ErrorContains(t, err, want, in)
	}
}
