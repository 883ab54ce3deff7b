package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// sample is the value of a gauge or a counter at a scrape. A scrape has hundreds, so that
// they are made many at a time, with all that a registry asks them for.
type sample struct {
	desc    *prometheus.Desc
	labels  []*dto.LabelPair
	kind    prometheus.ValueType
	value   float64
	gauge   dto.Gauge
	counter dto.Counter
}

func (s *sample) set(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels []*dto.LabelPair) {
	s.desc, s.kind, s.value, s.labels = d, kind, v, labels
	s.gauge.Value, s.counter.Value = &s.value, &s.value
}

// Desc implements [prometheus.Metric].
func (s *sample) Desc() *prometheus.Desc { return s.desc }

// Write implements [prometheus.Metric].
func (s *sample) Write(to *dto.Metric) error {
	to.Label = s.labels
	if s.kind == prometheus.CounterValue {
		to.Counter = &s.counter
	} else {
		to.Gauge = &s.gauge
	}
	return nil
}

// mostLabels is how many labels a metric of the state of a node has.
const mostLabels = 4

// labelSet identifies the labels of a series.
type labelSet struct {
	desc   *prometheus.Desc
	values [mostLabels]string
}

// labelSets keeps the labels of series from one scrape to the next. It is bounded, because
// labels are.
type labelSets struct {
	mu    sync.Mutex
	known map[labelSet][]*dto.LabelPair
}

// pairs returns the labels of a series, sorted by name. Nobody may change them.
func (s *labelSets) pairs(d *prometheus.Desc, values []string) []*dto.LabelPair {
	if len(values) == 0 {
		return nil
	}
	set := labelSet{desc: d}
	copy(set.values[:], values)
	s.mu.Lock()
	defer s.mu.Unlock()
	pairs, known := s.known[set]
	if !known {
		if s.known == nil {
			s.known = map[labelSet][]*dto.LabelPair{}
		}
		pairs = prometheus.MakeLabelPairs(d, values)
		s.known[set] = pairs
	}
	return pairs
}
