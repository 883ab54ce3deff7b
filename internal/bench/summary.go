package bench

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Summary is what is said of many durations.
type Summary struct {
	Count                          int
	Min, Mean, P50, P99, P999, Max time.Duration
}

// summarize sorts the samples, and returns their summary. Percentiles are
// samples: the smallest one that the given share of all does not exceed.
func summarize(samples []time.Duration) Summary {
	if len(samples) == 0 {
		return Summary{}
	}
	slices.Sort(samples)
	sum := 0.0
	for _, d := range samples {
		sum += float64(d)
	}
	at := func(q float64) time.Duration {
		return samples[max(int(math.Ceil(q*float64(len(samples)))), 1)-1]
	}
	return Summary{
		Count: len(samples), Min: samples[0], Mean: time.Duration(sum / float64(len(samples))),
		P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: samples[len(samples)-1],
	}
}

// MarshalJSON writes durations as microseconds.
func (s Summary) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count int     `json:"count"`
		Min   float64 `json:"min_us"`
		Mean  float64 `json:"mean_us"`
		P50   float64 `json:"p50_us"`
		P99   float64 `json:"p99_us"`
		P999  float64 `json:"p999_us"`
		Max   float64 `json:"max_us"`
	}{s.Count, micros(s.Min), micros(s.Mean), micros(s.P50), micros(s.P99), micros(s.P999), micros(s.Max)})
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
