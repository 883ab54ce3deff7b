package loop

import (
	"slices"
	"sync"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
)

// findings wait for a loop that may stand for hours. What a later one replaces waits no more.
type findings[T any] struct {
	mu  sync.Mutex
	all []T
}

// add adds a finding by merge, and reports whether no other waits.
func (f *findings[T]) add(x T, merge func(all []T, x T) []T) (only bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	only = len(f.all) == 0
	f.all = merge(f.all, x)
	return only
}

func (f *findings[T]) take() []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.all
	f.all = nil
	return all
}

// sample is one of a reference of UTC that was measured in an era of the hardware clock.
type sample struct {
	clocksync.Sample
	era uint32
}

// withSample adds a sample to the last ones of other references.
func withSample(all []sample, x sample) []sample {
	all = slices.DeleteFunc(all, func(y sample) bool { return y.Source == x.Source })
	if len(all) == clocksync.MaxReferences { // names have come to mean other references
		all = slices.Delete(all, 0, 1)
	}
	return append(all, x)
}

// HandleSample takes a sample of a reference of UTC, measured in an era of the
// hardware clock. It does not wait.
func (l *Loop) HandleSample(s clocksync.Sample, era uint32) {
	if !l.samples.add(sample{s, era}, withSample) {
		return
	}
	l.do(func(d *driver) {
		all := l.samples.take()
		for i := range all {
			d.handleSample(&all[i].Sample, all[i].era)
		}
	})
}

// withVerdict adds a verdict on the rate of the kernel's clock to those without which an
// incarnation would not end: a faulty rate, and one that is not, by turns. Of a fault that comes
// and goes, one time is enough.
func withVerdict(all []hwclock.Verdict, x hwclock.Verdict) []hwclock.Verdict {
	n := len(all)
	switch {
	case n > 0 && (all[n-1] == hwclock.RateFaulty) == (x == hwclock.RateFaulty):
		return all
	case n == 3:
		return all[:2]
	}
	return append(all, x)
}

// JudgeRate takes a verdict on the rate of the kernel's clock. It does not wait.
func (l *Loop) JudgeRate(v hwclock.Verdict) {
	if v == hwclock.RateUnknown || !l.verdicts.add(v, withVerdict) { // nobody knows better than before
		return
	}
	l.do(func(d *driver) {
		for _, verdict := range l.verdicts.take() {
			d.judgeRate(verdict)
		}
	})
}
