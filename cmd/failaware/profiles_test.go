package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProfiles(t *testing.T) {
	for path, want := range map[string]int{
		"heap": 200, "goroutine": 200, "allocs": 200, "mutex": 200, "profile?seconds=1": 200,
		"": 404, "none": 404, "../heap": 404, "profile?seconds=0": 400, "profile?seconds=31": 400, "profile?seconds=9223372037": 400, "profile?seconds=18446744074": 400, "profile?seconds=x": 400,
	} {
		w := httptest.NewRecorder()
		profiles().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/"+path, nil))
		require.Equal(t, want, w.Code, path)
		if want == 200 {
			require.Equal(t, "\x1f\x8b", w.Body.String()[:2], "%s is compressed", path)
		}
	}
}
