package metrics

import (
	"bytes"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// mostScrapes is how many scrapes may be answered at the same time.
const mostScrapes = 4

// handler answers scrapes in the text format, which every scraper reads. That of package
// promhttp also speaks protobuf and OpenMetrics, and is some hundred kilobytes larger.
type handler struct {
	registry *prometheus.Registry
	room     chan struct{}
}

// ServeHTTP implements [http.Handler].
func (h handler) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	select {
	case h.room <- struct{}{}:
		defer func() { <-h.room }()
	default:
		http.Error(w, "there are too many scrapes", http.StatusServiceUnavailable)
		return
	}
	families, err := h.registry.Gather()
	var b bytes.Buffer
	for _, f := range families {
		if err == nil {
			_, err = expfmt.MetricFamilyToText(&b, f)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the client has gone, or not
}
