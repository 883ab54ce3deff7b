package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/race"
)

// longEnough only ends a test that hangs.
const longEnough = 3 * time.Minute

// programs are the names of Chromium.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// tab is a page in a browser. The errors of its console fail the test.
type tab struct {
	t   *testing.T
	ctx context.Context
	dir string // for screenshots

	mu     sync.Mutex
	errors []string
}

// open starts a browser with one page of a size.
func open(t *testing.T, width, height int64) *tab {
	t.Helper()
	if race.Enabled {
		t.Skip("what a browser shows is tested without the race detector")
	}
	path := ""
	for _, name := range programs {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skipf("there is no browser: none of %s is installed", strings.Join(programs, ", "))
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.WindowSize(int(width), int(height)), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, dir: t.ArtifactDir()}
	messages := chromedp.Console(ctx)
	go b.listen(messages)
	b.do(chromedp.EmulateViewport(width, height))
	return b
}

// listen records the errors of the page.
func (b *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return // the page is closed
		}
		if m.Type == chromedp.ConsoleError || m.IsException() {
			b.mu.Lock()
			b.errors = append(b.errors, fmt.Sprint(m))
			b.mu.Unlock()
		}
	}
}

// requireNoErrors requires that the page has reported no errors.
func (b *tab) requireNoErrors() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.errors)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string, opts ...chromedp.EvaluateOption) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, opts...))
	require.NoError(b.t, err)
	return v
}

// text returns the text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

// count returns the number of elements.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return eval[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// until waits until a condition holds, and says the last text of an element otherwise.
func (b *tab) until(selector string, holds func(text string) bool) {
	b.t.Helper()
	for text := ""; ; time.Sleep(50 * time.Millisecond) {
		if b.ctx.Err() != nil {
			require.FailNow(b.t, "the page does not show what it should", "%s: %s", selector, text)
		}
		if text = b.text(selector); holds(text) {
			return
		}
	}
}

// untilShown waits until the summary matches and there are so many elements, all at the
// same time: on a busy machine the group may change between two looks.
func (b *tab) untilShown(summary *regexp.Regexp, counts map[string]int) {
	b.t.Helper()
	selectors := slices.Sorted(maps.Keys(counts))
	list, err := json.Marshal(selectors)
	require.NoError(b.t, err)
	look := fmt.Sprintf(`[document.querySelector("#summary").textContent, ...%s.map((s) => String(document.querySelectorAll(s).length))]`, list)
	for {
		got := eval[[]string](b, look)
		all := summary.MatchString(got[0])
		for i, s := range selectors {
			all = all && got[i+1] == strconv.Itoa(counts[s])
		}
		if all {
			return
		}
		if time.Sleep(50 * time.Millisecond); b.ctx.Err() != nil {
			require.FailNow(b.t, "the page does not show what it should", "%v: %v", selectors, got)
		}
	}
}

// click presses the mouse on an element.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// dark chooses the colours of the system.
func (b *tab) dark(on bool) {
	b.t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[on]
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(b.t, err)
}

// settle waits until the picture has come to rest, so that it is the same in each run. The
// page draws for a new width with the next answer only, and a busy machine may draw no
// frame for long: the size must be that of the width, and the frames are counted.
func (b *tab) settle() {
	b.t.Helper()
	for b.ctx.Err() == nil && !eval[bool](b, settled, chromedp.EvalAwaitPromise) {
	}
}

// settled is an expression that says whether the picture has the size of its width, and no
// node moves in some frames.
const settled = `(async () => {
	const places = () => [...document.querySelectorAll("#graph .node")].map((n) => n.getAttribute("transform")).join();
	const { sizes } = await import("/dashboard/layout.js");
	const before = places();
	for (let i = 0; i < 10; i++) await new Promise(requestAnimationFrame);
	const svg = document.querySelector("#graph svg"), size = svg.parentElement.clientWidth < 540 ? sizes.narrow : sizes.wide;
	return svg.viewBox.baseVal.width === size.width && places() === before;
})()`

// shoot saves a picture of the window, or of the whole page.
func (b *tab) shoot(name string, whole bool) {
	b.t.Helper()
	take := chromedp.CaptureScreenshot()
	if whole {
		take = chromedp.FullScreenshot(100)
	}
	image, err := chromedp.Run(b.ctx, take)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, name+".png"), image, 0o644))
}

// barriers returns what axe-core finds on the page, with how bad it is.
func (b *tab) barriers() (found []string) {
	b.t.Helper()
	script, err := os.ReadFile("testdata/axe/axe.min.js")
	require.NoError(b.t, err)
	type finding struct {
		ID     string `json:"id"`
		Impact string `json:"impact"`
		Help   string `json:"help"`
		Nodes  []struct {
			HTML    string `json:"html"`
			Summary string `json:"failureSummary"`
		} `json:"nodes"`
	}
	eval[int](b, string(script)+";0")
	list := eval[[]finding](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`, chromedp.EvalAwaitPromise)
	for _, v := range list {
		for _, n := range v.Nodes {
			found = append(found, fmt.Sprintf("%s: %s: %s: %.200s: %s", v.Impact, v.ID, v.Help, n.HTML, n.Summary))
		}
	}
	return found
}
