package bench

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Summary describes many durations.
type Summary struct {
	Count                          int
	Min, Mean, P50, P99, P999, Max time.Duration
}

// Summarize sorts the samples, and returns their summary. A percentile is the smallest
// sample that the given share of all does not exceed.
func Summarize(samples []time.Duration) Summary {
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

// summaryJSON is the form of a summary in results, in microseconds.
type summaryJSON struct {
	Count int     `json:"count"`
	Min   float64 `json:"min_us"`
	Mean  float64 `json:"mean_us"`
	P50   float64 `json:"p50_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p999_us"`
	Max   float64 `json:"max_us"`
}

// MarshalJSON writes durations as microseconds.
func (s Summary) MarshalJSON() ([]byte, error) {
	return json.Marshal(summaryJSON{s.Count, micros(s.Min), micros(s.Mean), micros(s.P50), micros(s.P99), micros(s.P999), micros(s.Max)})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (s *Summary) UnmarshalJSON(b []byte) error {
	var j summaryJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Summary{j.Count, duration(j.Min), duration(j.Mean), duration(j.P50), duration(j.P99), duration(j.P999), duration(j.Max)}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func duration(micros float64) time.Duration {
	return time.Duration(math.Round(micros * float64(time.Microsecond)))
}
