// Package kill plays the kills of the table of planted bugs that are tests of
// their own packages.
package kill

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/planted"
)

// Units plays the kills of a package that name no test of their own. Each test,
// listed by the name of the bug, passes without the bug and fails with it. A test
// that draws random input may miss the bug in some runs.
func Units(t *testing.T, pkg string, tests map[string]func(testing.TB)) {
	for _, k := range planted.Kills() {
		name := k.Mutant.Name
		if k.Package != pkg || k.Test != planted.TestName+"/"+name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			test := tests[name]
			if test == nil {
				t.Fatalf("package %s has no test that notices mutant %s", pkg, name)
			}
			test(t)
			defer quickly()()
			defer mutant.Set(mutant.None)
			mutant.Set(name)
			const tries = 100
			for run := 1; run <= tries; run++ {
				if fails(t, test) {
					t.Attr("runs", strconv.Itoa(run))
					return
				}
			}
			t.Errorf("mutant %s survived %d runs", name, tries)
		})
	}
}

// quickly keeps rapid from shrinking and filing the failures of a planted bug,
// until undo is called.
func quickly() (undo func()) {
	was := map[string]string{}
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "1ms"} {
		if f := flag.Lookup(name); f != nil {
			was[name] = f.Value.String()
			f.Value.Set(value)
		}
	}
	return func() {
		for name, value := range was {
			flag.Set(name, value)
		}
	}
}

// trial is a test that is expected to fail.
type trial struct {
	testing.TB
	failed bool
}

func (r *trial) Helper()               {}
func (r *trial) Log(...any)            {}
func (r *trial) Logf(string, ...any)   {}
func (r *trial) Fail()                 { r.failed = true }
func (r *trial) Failed() bool          { return r.failed }
func (r *trial) Error(...any)          { r.Fail() }
func (r *trial) Errorf(string, ...any) { r.Fail() }
func (r *trial) Fatal(...any)          { r.FailNow() }
func (r *trial) Fatalf(string, ...any) { r.FailNow() }
func (r *trial) FailNow() {
	r.failed = true
	runtime.Goexit()
}

// fails reports whether a test fails. The test gets its own goroutine, which
// FailNow ends.
func fails(t testing.TB, test func(testing.TB)) bool {
	r, done := &trial{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	return r.failed
}
