package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// broken is a collector whose metric cannot be collected.
type broken struct{ desc *prometheus.Desc }

func (b broken) Describe(out chan<- *prometheus.Desc) { out <- b.desc }

func (b broken) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.NewInvalidMetric(b.desc, errors.New("not now"))
}

// Scrapes are limited, and one that fails says so instead of a part of the answer.
func TestScrapesAreLimited(t *testing.T) {
	scrape := func(h handler) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w
	}
	h := handler{prometheus.NewRegistry(), make(chan struct{}, mostScrapes)}
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "answer", Help: "The answer."})
	gauge.Set(42)
	h.registry.MustRegister(gauge)
	w := scrape(h)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, "# HELP answer The answer.\n# TYPE answer gauge\nanswer 42\n", w.Body.String())
	require.Empty(t, h.room, "a scrape has given its room back")
	for range mostScrapes {
		h.room <- struct{}{}
	}
	require.Equal(t, http.StatusServiceUnavailable, scrape(h).Code)
	<-h.room
	require.Equal(t, http.StatusOK, scrape(h).Code, "there is room again")
	for range mostScrapes - 1 {
		<-h.room
	}
	fails := broken{prometheus.NewDesc("broken", "It fails.", nil, nil)}
	h.registry.MustRegister(fails)
	for range 2 * mostScrapes {
		w = scrape(h)
		require.Equal(t, http.StatusInternalServerError, w.Code)
		require.NotContains(t, w.Body.String(), "answer 42")
	}
	h.registry.Unregister(fails)
	require.Equal(t, http.StatusOK, scrape(h).Code, "those that failed have given their room back")
}

// A series that was scraped before costs its place among the samples, and nothing else.
func TestKnownSeriesCostNothing(t *testing.T) {
	var known labelSets
	desc := prometheus.NewDesc("packets", "Packets.", []string{"peer", "direction"}, nil)
	to := make(chan prometheus.Metric, 2*roomFor)
	out := &sink{to: to, known: &known}
	allocated := testing.AllocsPerRun(10, func() {
		for range roomFor {
			out.count(desc, 7, "2", "sent")
			<-to
		}
	})
	require.LessOrEqual(t, allocated, 1.0)

	out.count(desc, 7, "2", "sent")
	out.gauge(desc, 0.5, "3", "sent")
	for _, want := range []string{
		`label:{name:"direction" value:"sent"} label:{name:"peer" value:"2"} counter:{value:7}`,
		`label:{name:"direction" value:"sent"} label:{name:"peer" value:"3"} gauge:{value:0.5}`,
	} {
		var written dto.Metric
		require.NoError(t, (<-to).Write(&written))
		require.Equal(t, want, strings.Join(strings.Fields(written.String()), " "))
	}
}
