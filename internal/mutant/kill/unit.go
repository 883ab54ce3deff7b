//go:build mutants

package kill

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/failaware/failaware/internal/mutant"
)

// Units plays the rows of the table that a package's own tests are for: each
// test passes as things are, and fails with the planted bug. Properties draw
// what they look at, so a bug may survive a few runs.
func Units(t *testing.T, pkg string, tests map[mutant.ID]func(testing.TB)) {
	for _, k := range Table {
		if k.Package != pkg {
			continue
		}
		t.Run(k.Mutant.String(), func(t *testing.T) {
			test := tests[k.Mutant]
			if test == nil {
				t.Fatalf("package %s has no test that notices mutant %v", pkg, k.Mutant)
			}
			test(t)
			defer quickly()()
			defer mutant.Set(mutant.None)
			mutant.Set(k.Mutant)
			const tries = 100
			for run := 1; run <= tries; run++ {
				if fails(t, test) {
					t.Attr("runs", strconv.Itoa(run))
					return
				}
			}
			t.Errorf("mutant %v survived %d runs", k.Mutant, tries)
		})
	}
}

// quickly keeps rapid from shrinking and from filing what a planted bug does,
// and returns how to undo that.
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

// trial is a test whose failure is what is wanted.
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

// fails reports whether a test fails. A goroutine of its own is what FailNow
// ends.
func fails(t testing.TB, test func(testing.TB)) bool {
	r, done := &trial{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	return r.failed
}
