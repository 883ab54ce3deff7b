package bench

import (
	"encoding/json"
	"math"
	"time"
)

// Histogram is the distribution of durations, in a bounded number of bins.
type Histogram struct {
	From   time.Duration // begin of the first bin
	Width  time.Duration // of a bin
	Counts []int
	Beyond int // above the last bin
}

// maxBins bounds the bins of a histogram; a picture would not show more.
const maxBins = 200

// histogram counts sorted samples. The bins end at the 99th percentile, so that
// outliers do not widen all of them. Their number follows from that of the samples, so
// that the shape is not mostly chance (Rice's rule).
func histogram(sorted []time.Duration) (h Histogram) {
	if len(sorted) == 0 {
		return h
	}
	h.From = sorted[0]
	end := sorted[(len(sorted)*99-1)/100]
	bins := min(2*math.Cbrt(float64(len(sorted))), maxBins)
	h.Width = (end-h.From)/time.Duration(math.Ceil(bins)) + 1
	h.Counts = make([]int, (end-h.From)/h.Width+1)
	for _, d := range sorted {
		if i := int((d - h.From) / h.Width); i < len(h.Counts) {
			h.Counts[i]++
		} else {
			h.Beyond++
		}
	}
	return h
}

// histogramJSON is the form of a histogram in results, in microseconds.
type histogramJSON struct {
	From   float64 `json:"from_us"`
	Width  float64 `json:"width_us"`
	Counts []int   `json:"counts"`
	Beyond int     `json:"beyond"`
}

// MarshalJSON writes durations as microseconds.
func (h Histogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(histogramJSON{micros(h.From), micros(h.Width), h.Counts, h.Beyond})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*h = Histogram{duration(j.From), duration(j.Width), j.Counts, j.Beyond}
	return nil
}
