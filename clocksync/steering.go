package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// steering guesses UTC and the rate of this node's clock from the samples of references.
// It gives the point to steer to within the proven interval. A wrong guess costs
// accuracy, and bounds account for it.
type steering struct {
	list [observations]observation
	n    int // number of observations
	head int // index of the next

	anchor timed.Instant // the best line goes through this instant
	offset float64       // of UTC − H there, against origin
	origin int64
	rate   int64 // of UTC against H, in parts per billion
	fitted bool
	due    timed.Instant // when the rate is chosen again
}

// observation is the middle of a sample from a reference that is not a known
// falseticker.
type observation struct {
	source SourceID
	at     timed.Instant
	utc    Time
	half   time.Duration
}

const (
	// observations is the number of samples for a fit. Many samples average out the
	// delays; few follow a changing rate.
	observations = 48
	// observationLife is how long an observation counts. An older one may have been
	// made at another rate.
	observationLife = 20 * time.Minute
)

// ready reports whether there is a point to steer to.
func (s *steering) ready(now timed.Instant) bool {
	return s.fitted && now.Sub(s.list[s.last()].at) <= observationLife
}

func (s *steering) last() int { return (s.head + observations - 1) % observations }

// sample returns the k-th sample that counts, from the oldest.
func (s *steering) sample(k int) *observation {
	return &s.list[(s.head+observations-s.n+k)%observations]
}

// lost forgets everything except the rate, because the references may have been wrong.
func (s *steering) lost() { *s = steering{rate: s.rate, due: s.due} }

// forget removes the samples of a falseticker.
func (s *steering) forget(source SourceID) {
	var kept [observations]observation
	n := 0
	for k := range s.n {
		if o := s.sample(k); o.source != source {
			kept[n] = *o
			n++
		}
	}
	if n == s.n {
		return
	}
	s.list, s.n, s.head, s.fitted = kept, n, n%observations, n > 0
	if n > 0 {
		s.refit(kept[n-1].at)
	}
}

// add takes a sample and fits the line again.
func (s *steering) add(source SourceID, i interval) {
	o := observation{source: source, at: i.at, utc: i.middle(), half: i.half()}
	s.list[s.head] = o
	s.head = (s.head + 1) % observations
	s.n = min(s.n+1, observations)
	s.refit(i.at)
}

// Floors and units of the fit.
const (
	// leastNoise is the uncertainty of the best samples that can be, in
	// nanoseconds.
	leastNoise = 2000
	// likelyRate is the typical error of a clock's rate, in parts per billion: the
	// prior before there is evidence.
	likelyRate = 100_000
)

// fit fits a line through the samples by weighted least squares. A sample with a slower
// answer weighs less: half of its delay above the least is usually error. Products are
// rounded one by one, so that every processor computes the same line.
func (s *steering) fit(now timed.Instant) {
	origin := s.list[s.last()].offset()
	least := time.Duration(1 << 62)
	for k := range s.n {
		if o := s.sample(k); now.Sub(o.at) <= observationLife {
			least = min(least, o.half)
		}
	}
	var w, wt, wy float64
	weight := func(o *observation) float64 {
		if now.Sub(o.at) > observationLife {
			return 0
		}
		noise := float64(o.half-least) + float64(least)/4 + leastNoise
		return 1 / float64(noise*noise)
	}
	for k := range s.n {
		o := s.sample(k)
		p := weight(o)
		w += p
		wt += float64(p * seconds(o.at, now))
		wy += float64(p * float64(o.offset()-origin))
	}
	t, y := wt/w, wy/w
	var tt, ty float64
	for k := range s.n {
		o := s.sample(k)
		p, dt := weight(o), seconds(o.at, now)-t
		tt += float64(float64(p*dt) * dt)
		ty += float64(float64(p*dt) * (float64(o.offset()-origin) - y))
	}
	const prior = 1 / (likelyRate * float64(likelyRate))
	rate := ty / (tt + prior)
	s.rate = int64(min(max(rate, -maxRate), maxRate))
	s.anchor, s.origin, s.offset, s.fitted = now, origin, y-float64(rate*t), true
}

// maxRate bounds the guess of a rate, in parts per billion.
const maxRate = MaxSlewLimit

func (o *observation) offset() int64 { return int64(o.utc) - int64(o.at) }

func seconds(t, now timed.Instant) float64 { return float64(t.Sub(now)) / 1e9 }

// at returns the guess at UTC.
func (s *steering) at(now timed.Instant) Time {
	d := now.Sub(s.anchor)
	return Time(int64(now) + s.origin + int64(s.offset) + int64(advance(d, s.rate)-d))
}
