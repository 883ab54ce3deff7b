package diagram

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fullRun has every kind of element.
func fullRun() *Run {
	r := brokenRun()
	r.Marks = append(r.Marks, Mark{Node: All, At: 150 * ms, Kind: Event, Label: "all ready"},
		Mark{Node: All, At: 710 * ms, Kind: App, Label: "round 2"},
		Mark{Node: All, At: 715 * ms, Kind: Violation, Label: "second"})
	return r
}

// pictures are runs and options whose layouts differ.
func pictures() map[string]struct {
	r *Run
	o Options
} {
	type picture = struct {
		r *Run
		o Options
	}
	many := &Run{Title: strings.Repeat("long title ", 40), Nodes: make([]string, MaxNodes), To: time.Second}
	for i := range many.Nodes {
		many.Nodes[i] = strings.Repeat("name ", i) + strconv.Itoa(i)
		many.IDs = append(many.IDs, "id "+strconv.Itoa(i))
		many.Marks = append(many.Marks, Mark{Node: i, At: time.Second, Label: "at the right edge"},
			Mark{Node: All, At: time.Duration(i) * ms, Label: "crowded fault"},
			Mark{Node: i, At: time.Duration(i) * ms, Kind: Violation, Label: "one of many promises"},
			Mark{Node: i, At: 0, Label: "at the left edge"}, Mark{Node: i, At: 0, Kind: App, Label: "again"})
		many.Bars = append(many.Bars, Bar{Node: i, From: 0, To: time.Second, Kind: Stalled})
	}
	// A thousand nanoseconds of a run of decades.
	edges := &Run{Nodes: []string{"a", "b"}, From: -MaxTime, To: MaxTime,
		Marks: []Mark{{Node: All, At: time.Second + 999, Label: "a long text at the right edge"}}}
	for i := range 40 {
		far := time.Duration(i+1) * (MaxTime / 40)
		edges.Messages = append(edges.Messages, Message{From: 0, To: 1, Sent: -far, Arrived: far + 7},
			Message{From: 1, To: 0, Sent: time.Second + 500, Arrived: far},
			Message{From: 1, To: 0, Sent: -far, Arrived: time.Second + 500})
	}
	return map[string]picture{
		"full":   {fullRun(), Options{}},
		"narrow": {fullRun(), Options{Width: MinWidth}},
		"close":  {fullRun(), Options{From: 300 * ms, To: 330 * ms}},
		"crowd":  {crowdedRun(5000), Options{Width: 900}},
		"many":   {many, Options{Width: 700}},
		"edges":  {edges, Options{From: time.Second, To: time.Second + 1000}},
		"ticks":  {edges, Options{From: 960 * time.Hour, To: 960*time.Hour + 10, Width: 900}},
		"bare":   {&Run{Nodes: []string{"only"}, To: 1}, Options{}},
	}
}

func TestEveryElementIsDrawn(t *testing.T) {
	r := fullRun()
	svg := parse(t, r, Options{})
	fates, heads, keepalives := map[Fate]int{}, 0, 0
	for _, m := range r.Messages {
		fates[m.Fate]++
		if m.Fate != Lost && m.Arrived <= r.To {
			heads++
		}
		if m.Keepalive {
			keepalives++
		}
	}
	for fate, n := range fates {
		require.Len(t, svg.in("messages", "message "+fate.String()), n, fate)
	}
	require.Len(t, fates, 3)
	require.NotZero(t, keepalives)
	require.Len(t, svg.in("messages", "message keepalive"), keepalives)
	require.Len(t, svg.in("messages", "head"), heads)
	bars := map[BarKind]int{}
	for _, b := range r.Bars {
		bars[b.Kind]++
	}
	require.Len(t, bars, len(barNames))
	for kind, n := range bars {
		layer := "bars"
		if kind == Stalled {
			layer = "stalls"
		}
		require.Len(t, svg.in(layer, kind.String()), n, kind)
	}
}

func TestEveryMarkIsDrawn(t *testing.T) {
	r := fullRun()
	svg := parse(t, r, Options{})
	type look struct {
		kind MarkKind
		all  bool
	}
	marks := map[look]int{}
	for _, m := range r.Marks {
		marks[look{m.Kind, m.Node == All}]++
	}
	for _, kind := range []MarkKind{Fault, Event, App} {
		require.Len(t, svg.in("lines", kind.String()), marks[look{kind, true}], kind)
		require.Len(t, svg.in("marks", kind.String()), marks[look{kind, false}], kind)
	}
	require.Len(t, svg.in("violations", "violation"), 2)
	require.Len(t, svg.in("violations", "culprit"), 1)
	require.Len(t, svg.in("violations", "flag"), 2)
	require.Len(t, svg.in("lanes", "lane"), 5)
	require.Len(t, svg.in("lanes", "name"), 5)
	require.Len(t, svg.in("lanes", "id"), 5)
	require.Equal(t, r.Title, svg.in("header", "title")[0].Text)
	require.Equal(t, r.Subtitle, svg.in("header", "subtitle")[0].Text)
	d := &drawing{run: r}
	require.Len(t, svg.in("legend", "legendtext"), len(d.entries()), "the legend explains every class")
	require.Empty(t, svg.in("legend", "note"), "nothing is missing")
	var flagged []string
	for _, text := range svg.in("violations", "flagtext") {
		flagged = append(flagged, text.Text)
	}
	for _, m := range r.Marks {
		if m.Kind == Violation {
			require.Contains(t, strings.Join(flagged, " "), m.Label)
		}
	}
}

func TestTheLegendExplainsOnlyWhatIsThere(t *testing.T) {
	r := &Run{Nodes: []string{"a", "b"}, To: ms, Messages: []Message{{From: 0, To: 1, Arrived: ms / 2}}}
	texts := parse(t, r, Options{}).in("legend", "legendtext")
	require.Len(t, texts, 1)
	require.Equal(t, "message, fast", texts[0].Text)
}

func TestAccessible(t *testing.T) {
	svg := parse(t, fullRun(), Options{})
	require.Equal(t, "img", svg.attr("role"))
	require.Equal(t, "title", svg.Children[0].XMLName.Local)
	require.Equal(t, fullRun().Title, svg.Children[0].Text)
	require.Equal(t, "desc", svg.Children[1].XMLName.Local)
	for _, said := range []string{"5 nodes", "split {1,2} {3,4,5}", "SO: the support of leader 1", "crash"} {
		require.Contains(t, svg.Children[1].Text, said)
	}
	for _, m := range svg.in("messages", "message") {
		require.Contains(t, m.tip(), "→")
	}
}

// mapping recovers how the picture maps time to x, from the ticks alone.
func mapping(t *testing.T, svg *parsed) func(time.Duration) float64 {
	t.Helper()
	var at []time.Duration
	var xs []float64
	for _, tick := range svg.in("axis", "time") {
		text := strings.ReplaceAll(strings.ReplaceAll(tick.Text, " ", ""), ",", "")
		d, err := time.ParseDuration(text)
		require.NoError(t, err)
		box := tick.extent(t)
		at, xs = append(at, d), append(xs, (box.x0+box.x1)/2)
	}
	n := len(at) - 1
	require.Positive(t, n)
	x := func(d time.Duration) float64 {
		return xs[0] + float64(d-at[0])/float64(at[n]-at[0])*(xs[n]-xs[0])
	}
	for i := range at {
		require.InDelta(t, x(at[i]), xs[i], 0.05, "ticks are not even")
		if i > 0 {
			require.Greater(t, xs[i], xs[i-1])
		}
	}
	return x
}

func TestTimeRunsFromLeftToRight(t *testing.T) {
	r := fullRun()
	for _, o := range []Options{{}, {Width: 800}, {From: 100 * ms, To: 700 * ms}} {
		svg := parse(t, r, o)
		x := mapping(t, svg)
		axis := svg.in("axis", "axis")[0].extent(t)
		bars := map[string]int{}
		for _, e := range svg.in("bars", "lead") {
			bars[e.tip()]++
			found := false
			for _, b := range r.Bars {
				box := e.extent(t)
				found = found || b.Kind == Lead && math.Abs(max(x(b.From), axis.x0)-box.x0) < 0.1 &&
					math.Abs(min(x(b.To), axis.x1)-box.x1) < 0.1
			}
			require.True(t, found, "no bar is as %s is drawn", e.tip())
		}
		for _, e := range svg.in("lines", "fault") {
			at, err := time.ParseDuration(strings.Split(e.tip(), ",")[0])
			require.NoError(t, err)
			require.InDelta(t, x(at), e.extent(t).x0, 0.1)
		}
		require.NotEmpty(t, bars)
	}
}

func TestArrowsEndAtLanes(t *testing.T) {
	r := &Run{Nodes: []string{"a", "b", "c"}, To: 100 * ms}
	for from := range 3 {
		for to := range 3 {
			if from != to {
				at := time.Duration(len(r.Messages)+1) * 10 * ms
				r.Messages = append(r.Messages, Message{From: from, To: to, Sent: at, Arrived: at + 5*ms},
					Message{From: from, To: to, Sent: at + ms, Arrived: at + 6*ms, Fate: Lost})
			}
		}
	}
	r.To = r.Messages[len(r.Messages)-1].Arrived + ms
	svg := parse(t, r, Options{})
	x := mapping(t, svg)
	var lanes []rect
	for _, l := range svg.in("lanes", "lane") {
		lanes = append(lanes, l.extent(t))
	}
	edges := func(m Message) (a, b float64) {
		if m.From < m.To {
			return lanes[m.From].y1, lanes[m.To].y0
		}
		return lanes[m.From].y0, lanes[m.To].y1
	}
	lines, heads := svg.in("messages", "message"), svg.in("messages", "head")
	crosses := svg.in("messages", "lostcross")
	require.Len(t, lines, len(r.Messages))
	for i, m := range r.Messages {
		a, b := edges(m)
		start := lines[i].points(t)[0]
		require.InDelta(t, x(m.Sent), start.x, 0.1)
		require.InDelta(t, a, start.y, 0.01)
		if m.Fate != Lost {
			tip := heads[0].points(t)[0]
			heads = heads[1:]
			require.InDelta(t, x(m.Arrived), tip.x, 0.1)
			require.InDelta(t, b, tip.y, 0.01)
			continue
		}
		c := crosses[0].extent(t)
		crosses = crosses[1:]
		require.Greater(t, c.y0, min(a, b), "lost on its way")
		require.Less(t, c.y1, max(a, b), "lost on its way")
		for _, l := range lanes {
			require.False(t, l.meets(c), "a lane hides the end of a lost message")
		}
	}
	require.Empty(t, heads)
	require.Empty(t, crosses)
}

func TestTheWindowCutsWhatLeavesIt(t *testing.T) {
	r := &Run{Nodes: []string{"a", "b"}, To: 100 * ms, Messages: []Message{
		{From: 0, To: 1, Sent: 10 * ms, Arrived: 30 * ms}, // enters
		{From: 0, To: 1, Sent: 70 * ms, Arrived: 90 * ms}, // leaves
		{From: 1, To: 0, Sent: 0, Arrived: 100 * ms},      // passes through
		{From: 1, To: 0, Sent: 81 * ms, Arrived: 100 * ms},
	}, Bars: []Bar{{Node: 0, To: 10 * ms}, {Node: 0, From: 90 * ms, To: 95 * ms}, {Node: 1, To: 100 * ms}},
		Marks: []Mark{{At: ms, Label: "before"}, {Node: All, At: 99 * ms, Label: "after"}}}
	svg := parse(t, r, Options{From: 20 * ms, To: 80 * ms})
	require.Len(t, svg.in("messages", "message"), 3)
	require.Len(t, svg.in("messages", "head"), 1, "an arrow has a head only where it arrives")
	require.Len(t, svg.in("bars", "lead"), 1)
	require.Empty(t, svg.in("marks", "fault"))
	require.Empty(t, svg.in("lines", "fault"))
	axis := svg.in("axis", "axis")[0].extent(t)
	for _, layer := range []string{"messages", "bars"} {
		for _, e := range svg.in(layer, "") {
			box := e.extent(t)
			require.GreaterOrEqual(t, box.x0, axis.x0-headHalf, e.Attrs)
			require.LessOrEqual(t, box.x1, axis.x1+headHalf, e.Attrs)
		}
	}
}

func TestNothingLeavesTheCanvas(t *testing.T) {
	for name, p := range pictures() {
		svg := parse(t, p.r, p.o)
		w, h := svg.number(t, "width"), svg.number(t, "height")
		if p.o.Width > 0 {
			require.InDelta(t, p.o.Width, w, 0.001)
		}
		svg.walk(func(e *parsed) {
			box := e.extent(t)
			require.True(t, box.x0 >= 0 && box.y0 >= 0 && box.x1 <= w && box.y1 <= h, "%s: %v %v %q", name, box, e.Attrs, e.Text)
		})
	}
}

func TestTextsDoNotMeet(t *testing.T) {
	for name, p := range pictures() {
		var texts []string
		var boxes []rect
		parse(t, p.r, p.o).walk(func(e *parsed) {
			if e.XMLName.Local == "text" {
				texts, boxes = append(texts, e.Text), append(boxes, e.extent(t))
			}
		})
		require.NotEmpty(t, boxes)
		for i, a := range boxes {
			for j, b := range boxes[:i] {
				if a.meets(b) {
					t.Errorf("%s: %q meets %q", name, texts[i], texts[j])
				}
			}
		}
	}
}

func TestTheWidthOfTextsIsFixed(t *testing.T) {
	name := parse(t, sampleRun(), Options{}).in("lanes", "name")[0]
	require.InDelta(t, nameType.Width("n1"), name.number(t, "textLength"), 0.01)
}

func TestLabelsOfBarsFitOrShrink(t *testing.T) {
	bar := func(to time.Duration) []*parsed {
		r := &Run{Nodes: []string{"a"}, To: 1000 * ms, Bars: []Bar{{To: to, Kind: View, Label: "v7 {1,2,3}"}}}
		return parse(t, r, Options{Width: 1000}).in("labels", "barlabel")
	}
	require.Equal(t, "v7 {1,2,3}", bar(500 * ms)[0].Text)
	require.Equal(t, "v7", bar(40 * ms)[0].Text)
	require.Equal(t, "v7 {1,2,3}", bar(40 * ms)[0].tip())
	require.Empty(t, bar(5*ms))
}

func TestRedIsForViolations(t *testing.T) {
	red := hex(violation)
	seen := 0
	parse(t, fullRun(), Options{}).walk(func(e *parsed) {
		if e.attr("fill") != red && e.attr("stroke") != red {
			return
		}
		seen++
		require.Contains(t, []string{"violation", "flag", "culprit", "sample"}, e.attr("class"))
	})
	require.NotZero(t, seen)
	parse(t, sampleRun(), Options{}).walk(func(e *parsed) {
		require.False(t, e.attr("fill") == red || e.attr("stroke") == red, "red without a violation: %v", e.Attrs)
	})
}

func TestSameRunSameBytes(t *testing.T) {
	for _, o := range []Options{{}, {Width: 600, From: 300 * ms, To: 340 * ms}} {
		require.True(t, bytes.Equal(render(t, fullRun(), o), render(t, fullRun(), o)))
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	require.ErrorIs(t, Render(fullDisk{}, sampleRun(), Options{Width: 500}), errFull)
}
