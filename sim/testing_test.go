package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// forgetful is an application whose processes believe for ever that they lead,
// once they did; careful ones ask.
func forgetful(careful bool) func(*World) App {
	return func(w *World) App {
		believes := map[timed.NodeID]bool{}
		return App{
			Start: func(n *Node) Handlers {
				return Handlers{Leader: func(leads bool, _ timed.NodeID) { believes[n.ID()] = leads },
					Stop: func() { believes[n.ID()] = false }}
			},
			Invariants: []Invariant{{"one boss", func() error {
				bosses := 0
				for _, n := range w.Nodes() {
					if believes[n.ID()] && (!careful || n.Support().Len() > len(w.Nodes())/2) {
						bosses++
					}
				}
				if bosses > 1 {
					return fmt.Errorf("%d bosses", bosses)
				}
				return nil
			}}},
		}
	}
}

// fakeT is a test that is tested.
type fakeT struct{ name, log, fatal string }

func (f *fakeT) Helper()                   {}
func (f *fakeT) Name() string              { return f.name }
func (f *fakeT) Logf(s string, a ...any)   { f.log += fmt.Sprintf(s, a...) }
func (f *fakeT) Fatalf(s string, a ...any) { f.fatal += fmt.Sprintf(s, a...) }

func TestTestFindsShrinksKeepsAndReplays(t *testing.T) {
	t.Chdir(t.TempDir())
	campaign := func(careful bool) Campaign {
		return Campaign{Seeds: 60, Options: Options{Duration: 4 * time.Second, App: forgetful(careful)}}
	}

	bad := &fakeT{name: "TestBoss/of 5"}
	Test(bad, campaign(false))
	require.Regexp(t, `(?s)^sim: seed 1: one boss broken after .*: 2 bosses
Shrunk to \d of its \d+ faults in \d+ runs: 2 bosses
\d nodes, .*
    .* \d.*
It is kept in testdata/sim/TestBoss-of-5-bca85875/one-boss-1.json, and the first thing that this test runs from now on.$`, bad.fatal)

	again := &fakeT{name: bad.name}
	Test(again, campaign(false))
	require.Regexp(t, `(?s)^sim: the kept case testdata/sim/TestBoss-of-5-bca85875/one-boss-1.json fails: seed 1: one boss broken .*`, again.fatal)

	good := &fakeT{name: bad.name}
	Test(good, campaign(true))
	require.Empty(t, good.fatal)
	require.Regexp(t, `^sim: 60 seeds, 240 simulated seconds, \d+ events, hash [0-9a-f]{16}$`, good.log)

	file := filepath.Join("testdata", "sim", "TestBoss-of-5-bca85875", "one-boss-1.json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o644))
	broken := &fakeT{name: bad.name}
	Test(broken, campaign(true))
	require.Equal(t, file+": sim: a case of format 0: this program reads 1", broken.fatal)
}

// Tests with similar names keep their cases apart. Cases of former builds, which did not, are found.
func TestTestsWithSimilarNamesKeepTheirOwnCases(t *testing.T) {
	t.Chdir(t.TempDir())
	campaign := Campaign{Seeds: 60, Options: Options{Duration: 4 * time.Second, App: forgetful(false)}}
	kept := map[string]bool{}
	names := []string{"TestPar/A_b", "TestPar/A-b", "TestPar/A.b", "TestPar/A", "TestPar"}
	for _, name := range names {
		f := &fakeT{name: name}
		Test(f, campaign)
		_, text, ok := strings.Cut(f.fatal, "It is kept in ")
		require.True(t, ok, "%s finds no case of another test: %s", name, f.fatal)
		file, _, _ := strings.Cut(text, ",")
		require.FileExists(t, file)
		kept[file] = true
	}
	require.Len(t, kept, len(names))

	former := filepath.Join("testdata", "sim", "TestFormer-A-b")
	require.NoError(t, os.Rename(filepath.Join("testdata", "sim", "TestPar"), former))
	f := &fakeT{name: "TestFormer/A.b"}
	Test(f, campaign)
	require.Regexp(t, `^sim: the kept case `+former+`/one-boss-1.json fails: (?s:.*)
Tests with similar names share this directory. Move the file to testdata/sim/TestFormer-A-b-[0-9a-f]{8} if it is of this test.$`, f.fatal)
	f = &fakeT{name: "TestFormer-A-b"}
	Test(f, campaign)
	require.Contains(t, f.fatal, "sim: the kept case")
	require.NotContains(t, f.fatal, "similar names")
}

// A run that ends its goroutine, as FailNow of the test does, has a seed, and is kept. So are the
// runs that Test makes besides those of the campaign.
func TestTestKeepsARunThatEndsItsGoroutine(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, after := range []time.Duration{0, time.Second} {
		ends := func(w *World) App {
			end := func() error {
				if w.Time() >= after {
					runtime.Goexit()
				}
				return nil
			}
			if after == 0 {
				_ = end() // in App itself
			}
			return App{Invariants: []Invariant{{"ends", end}}}
		}
		f := &fakeT{name: "TestEnds" + after.String()}
		c := Campaign{First: 3, Seeds: 5, Jobs: 1, Options: Options{Nodes: 3, Duration: 4 * time.Second, App: ends}}
		Test(f, c)
		require.Regexp(t, `(?s)^sim: seed 3: panic( at node \d)? after `+map[bool]string{true: "0s", false: `1\.\d*s`}[after == 0]+
			`: the application ended its goroutine, as t.FailNow does: .*testing_test.go.*
It is not shrunk, because each run would fail the test again.
3 nodes, .*It is kept in testdata/sim/TestEnds[01]s/panic-3.json, and the first thing that this test runs from now on.$`, f.fatal)
		f = &fakeT{name: f.name}
		Test(f, c)
		require.Contains(t, f.fatal, "sim: the kept case testdata/sim/"+f.name+"/panic-3.json fails: seed 3: panic")
	}
}

// A mistake of the test is told with the line where it is, and no case of it is kept.
func TestTestKeepsNoMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	for want, app := range map[string]func(*World) App{
		"an invariant needs a Name and a Check": func(*World) App { return App{Invariants: []Invariant{{Name: "x"}}} },
		"Send from an invariant, which must not change the world": func(w *World) App {
			return App{Invariants: []Invariant{{"x", func() error { w.Node(1).Send(2, nil); return nil }}}}
		},
		"Run from inside of the world": only(func(n *Node) Handlers { _ = n.w.Run(1); return Handlers{} }),
	} {
		f := &fakeT{name: "TestMistake"}
		Test(f, Campaign{Options: Options{App: app}})
		require.Regexp(t, `^sim: seed 1: panic( at node 1)? after .*: sim: `+want, f.fatal)
		require.Equal(t, !strings.Contains(want, "needs a Name"), strings.Contains(f.fatal, "TestTestKeepsNoMistakes"), f.fatal)
		require.NoDirExists(t, "testdata")
	}
}

// A kept case runs with the options of its day. When it fails, the test says which have changed.
func TestAKeptCaseOfOtherOptions(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fakeT{name: "TestBoss"}
	Test(f, Campaign{Seeds: 60, Options: Options{Duration: 4 * time.Second, App: forgetful(false)}})
	require.Contains(t, f.fatal, "It is kept in")
	again := func(o Options) string {
		f := &fakeT{name: "TestBoss"}
		o.App = only(func(n *Node) Handlers {
			_, err := n.Broadcast(nil, broadcast.Options{})
			if err != nil && !errors.Is(err, ErrNotRunning) {
				panic(err)
			}
			return Handlers{}
		})
		Test(f, Campaign{Seeds: 1, Options: o})
		return f.fatal
	}
	text := again(Options{Broadcast: &Broadcast{}, Mode: leader.Strict})
	require.Contains(t, text, "sim: Node.Broadcast needs the option Broadcast")
	require.Contains(t, text, "It was kept when the test had other options: Broadcast, Mode. If they are why it fails, delete the file")
	require.NotContains(t, again(Options{Nodes: 9, Duration: time.Minute}), "other options", "shrinking changes these")
}

// The stack of a panic is the application's.
func TestStacksHaveTheFramesOfTheApplication(t *testing.T) {
	_, err := New(1, Options{Nodes: 3, App: only(func(n *Node) Handlers { n.Send(2, make([]byte, 2*MaxPayload)); return Handlers{} })})
	v, ok := errors.AsType[*Violation](err)
	require.True(t, ok)
	require.Contains(t, v.Stack, "TestStacksHaveTheFramesOfTheApplication")
	for _, frame := range []string{"sim.(*Node).Send", "sim.newWorld", "runtime/debug", "testing.", "panic("} {
		require.NotContains(t, v.Stack, frame)
	}
	require.Empty(t, ownFrames("goroutine 1 [running]:\nruntime.x(...)\n\t/runtime/x.go:1\n"))
}

// The case that a test keeps is the same on fast and slow machines.
func TestTestShrinksAlikeHoweverLongItTakes(t *testing.T) {
	t.Chdir(t.TempDir())
	found := func(pause time.Duration) string {
		f := &fakeT{name: "TestBoss/" + pause.String()}
		synctest.Test(t, func(*testing.T) {
			slow := func(w *World) App {
				time.Sleep(pause)
				return forgetful(false)(w)
			}
			Test(f, Campaign{Seeds: 60, Jobs: 1, Options: Options{Duration: 4 * time.Second, App: slow}})
		})
		_, text, _ := strings.Cut(f.fatal, "Shrunk")
		text, _, _ = strings.Cut(text, "It is kept")
		return text
	}
	fast := found(0)
	require.Contains(t, fast, "faults in")
	require.Equal(t, fast, found(time.Second))
}

func TestTestSaysWhatCannotBeRun(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fakeT{}
	Test(f, Campaign{Play: RunTopology})
	require.Equal(t, "sim: Test plays seeds with Run only", f.fatal)
	f = &fakeT{}
	Test(f, Campaign{Options: Options{Nodes: 256}})
	require.Equal(t, "sim: 256 nodes: must be 1 to 255", f.fatal)
	f = &fakeT{}
	Test(f, Campaign{Jobs: -1})
	require.Equal(t, "sim: -1 jobs: must be 1 to 1024", f.fatal)
	require.NoError(t, os.WriteFile("testdata", nil, 0o644))
	f = &fakeT{name: "x"}
	Test(f, Campaign{Options: Options{App: forgetful(false)}})
	require.Contains(t, f.fatal, "It could not be kept: mkdir testdata")
}

// An application that does not do the same twice is told so: at once, or when
// its failure does not come again.
func TestTestWantsOneRunOfASeed(t *testing.T) {
	t.Chdir(t.TempDir())
	var shared atomic.Int64
	f := &fakeT{}
	Test(f, Campaign{Options: Options{App: only(func(n *Node) Handlers {
		n.After(time.Second, func() { n.SendAll(fmt.Append(nil, shared.Add(1))) })
		return Handlers{}
	})}})
	require.Regexp(t, `^sim: seed 1 gives two runs, with hashes .*: the application does not do the same twice`, f.fatal)

	f = &fakeT{}
	shared.Store(0)
	Test(f, Campaign{Jobs: 1, Options: Options{Duration: time.Second, App: func(*World) App {
		world := shared.Add(1)
		return App{Invariants: []Invariant{{"twentieth world", func() error {
			if world == 20 {
				return errors.New("it was made")
			}
			return nil
		}}}}
	}}})
	require.Contains(t, f.fatal, "twentieth world broken")
	require.Contains(t, f.fatal, "the application does not do the same twice")
}

// A case keeps its application while it shrinks; one that was written gets it
// from whoever reads it.
func TestShrinkWithApplication(t *testing.T) {
	c, err := CaseOf(3, Options{App: forgetful(false)})
	require.NoError(t, err)
	before := len(c.Schedule.Faults)
	small, _, err := Shrink(context.Background(), c, ShrinkOptions{})
	require.NoError(t, err)
	require.Equal(t, "one boss", small.Check)
	require.Equal(t, 2, small.Options.Nodes)
	require.LessOrEqual(t, len(small.Schedule.Faults), 2)
	require.Greater(t, before, 10)

	var b bytes.Buffer
	require.NoError(t, small.Write(&b))
	read, err := ReadCase(&b)
	require.NoError(t, err)
	r, err := read.Run()
	require.NoError(t, err)
	require.Nil(t, r.Violation, "nobody believes anything")
	read.Options.App = forgetful(false)
	r, err = read.Run()
	require.NoError(t, err)
	require.Equal(t, "one boss", r.Violation.Check)
	read.Options.App = forgetful(true)
	r, err = read.Run()
	require.NoError(t, err)
	require.Nil(t, r.Violation)
}

// A panic does not shrink to another one.
func TestShrinkKeepsThePanic(t *testing.T) {
	c, err := CaseOf(1, Options{App: func(w *World) App {
		return App{Start: func(n *Node) Handlers {
			if len(w.Nodes()) < 3 {
				panic("too few nodes")
			}
			return Handlers{Stop: func() { panic("crashed") }}
		}}
	}})
	require.NoError(t, err)
	small, _, err := Shrink(context.Background(), c, ShrinkOptions{MaxRuns: 300})
	require.NoError(t, err)
	require.Equal(t, "crashed", small.Detail)
	require.Equal(t, 3, small.Options.Nodes)
	require.LessOrEqual(t, len(small.Schedule.Faults), 2)
}

// Campaigns with Make take the options of each seed.
func TestCampaignMake(t *testing.T) {
	var worlds [4]atomic.Int64
	_, v, err := Campaign{Seeds: 30, Make: func(seed uint64) Options {
		return Options{Nodes: 1 + int(seed%3), Duration: time.Second, App: func(w *World) App {
			worlds[len(w.Nodes())].Add(1)
			return App{}
		}}
	}}.Run(t.Context())
	require.NoError(t, err)
	require.Nil(t, v)
	for _, n := range []int{1, 2, 3} {
		require.Equal(t, int64(10), worlds[n].Load())
	}
}

func TestWithoutNamesRandomClasses(t *testing.T) {
	_, err := New(1, Options{Without: []fault.Class{fault.ClassHeal}})
	require.EqualError(t, err, "sim: Without: there are no random faults of class heal (23) to leave out")
}

func TestInjectAndMend(t *testing.T) {
	w := calm(t, 3, nil)
	require.EqualError(t, w.Inject(fault.Fault{Kind: "flood"}), `fault: there is no fault "flood"`)
	require.ErrorContains(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 4}), "crash of node 4: must be 1 to 3")
	require.EqualError(t, w.Inject(fault.Fault{Kind: fault.ClockStop, Node: 1}), "sim: clock stop: needs the option BrokenClocks")

	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1), timed.SetOf(2, 3)}, At: time.Hour}))
	require.NoError(t, w.RunUntil(10*time.Second, func() bool { return w.Leaders() == timed.SetOf(1, 2) }))
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 3}))
	w.Mend()
	require.NoError(t, w.RunUntil(10*time.Second, func() bool { return w.Node(1).Support() == timed.SetOf(1, 2) }))
	require.False(t, w.Node(3).Up(), "who crashed stays down")

	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Heal, For: 5 * time.Second}))
	require.ErrorContains(t, w.Inject(fault.Fault{Kind: fault.Cut}), "the world is held still")
	require.NoError(t, w.Run(6*time.Second))
	require.True(t, w.Node(3).Up())
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Cut}))
}

// Worlds of one case do not see what is injected into the other.
func TestInjectedFaultsAreOfOneWorld(t *testing.T) {
	faults := make([]fault.Fault, 1, 10)
	faults[0] = fault.Fault{Kind: fault.Wander, Node: 1}
	c := Case{Seed: 1, Options: Options{Calm: true}, Schedule: fault.Schedule{Baseline: draw(1, Options{}).Baseline, Faults: faults}}
	a, err := c.World()
	require.NoError(t, err)
	b, err := c.World()
	require.NoError(t, err)
	require.NoError(t, a.Inject(fault.Fault{Kind: fault.Crash, Node: 1, For: time.Second}))
	require.NoError(t, b.Inject(fault.Fault{Kind: fault.Cut, For: time.Second}))
	require.NoError(t, a.Run(2*time.Second))
	require.True(t, a.Node(1).Up(), "its crash is over")
}

func TestRunInSteps(t *testing.T) {
	whole, err := New(1, Options{Roughness: 3})
	require.NoError(t, err)
	require.NoError(t, whole.Run(10*time.Second))
	steps, err := New(1, Options{Roughness: 3})
	require.NoError(t, err)
	for range 1000 {
		require.NoError(t, steps.Run(10*time.Millisecond))
	}
	require.Equal(t, whole.Result().Hash, steps.Result().Hash)
	require.Equal(t, 10*time.Second, steps.Time())

	looks := 0
	require.EqualError(t, steps.RunUntil(time.Second, func() bool { looks++; return false }), "sim: seed 1: it did not come about within 1s")
	require.Greater(t, looks, 100)
	require.Equal(t, 11*time.Second, steps.Time())
	require.NoError(t, steps.RunUntil(0, func() bool { return true }))
	require.Error(t, steps.RunUntil(-1, func() bool { return false }))
	require.NoError(t, steps.Run(-time.Hour))
	require.Equal(t, 11*time.Second, steps.Time())
}
