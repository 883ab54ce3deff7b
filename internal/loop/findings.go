package loop

import (
	"slices"
	"sync"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
)

// samples are those of references of UTC that the loop has not come to: the last of each.
type samples struct {
	mu  sync.Mutex
	all []sample
}

// sample is one that was measured in an era of the hardware clock.
type sample struct {
	clocksync.Sample
	era uint32
}

// put adds a sample, and reports whether no other waits.
func (s *samples) put(x sample) (only bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	only = len(s.all) == 0
	s.all = slices.DeleteFunc(s.all, func(y sample) bool { return y.Source == x.Source })
	if len(s.all) == clocksync.MaxReferences { // names have come to mean other references
		s.all = slices.Delete(s.all, 0, 1)
	}
	s.all = append(s.all, x)
	return only
}

func (s *samples) take() []sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// HandleSample takes a sample of a reference of UTC, measured in an era of the
// hardware clock. It does not wait.
func (l *Loop) HandleSample(s clocksync.Sample, era uint32) {
	if !l.samples.put(sample{s, era}) {
		return
	}
	l.do(func(d *driver) {
		all := l.samples.take()
		for i := range all {
			d.handleSample(&all[i].Sample, all[i].era)
		}
	})
}

// verdicts are those on the rate of the kernel's clock that the loop has not come to: the last, and
// those before it without which an incarnation would not end.
type verdicts struct {
	mu  sync.Mutex
	all []hwclock.Verdict // a faulty rate, and one that is not, by turns
}

// put adds a verdict, and reports whether no other waits. Of a fault that comes and goes, one time
// is enough.
func (v *verdicts) put(x hwclock.Verdict) (only bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := len(v.all)
	switch {
	case n > 0 && (v.all[n-1] == hwclock.RateFaulty) == (x == hwclock.RateFaulty):
	case n == 3:
		v.all = v.all[:2]
	default:
		v.all = append(v.all, x)
	}
	return n == 0
}

func (v *verdicts) take() []hwclock.Verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := v.all
	v.all = nil
	return all
}

// JudgeRate takes a verdict on the rate of the kernel's clock. It does not wait.
func (l *Loop) JudgeRate(v hwclock.Verdict) {
	if v == hwclock.RateUnknown || !l.verdicts.put(v) { // nobody knows better than before
		return
	}
	l.do(func(d *driver) {
		for _, verdict := range l.verdicts.take() {
			d.judgeRate(verdict)
		}
	})
}
