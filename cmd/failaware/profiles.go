package main

import (
	"fmt"
	"net/http"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/api"
)

// Limits of the time of a processor's profile.
const (
	usualProfile = 10 * time.Second
	mostProfile  = 30 * time.Second
)

// profiles answers with the profiles of the process in the format of `go tool pprof`:
// profile?seconds=N, heap, allocs, goroutine and the others of package runtime/pprof. It
// does not use net/http/pprof, which makes the program half a megabyte larger and adds
// itself to the default server.
func profiles() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		name := strings.TrimPrefix(q.URL.Path, api.DebugPath)
		p := pprof.Lookup(name)
		switch {
		case name == "profile":
			profileCPU(w, q)
			return
		case p == nil:
			api.Fail(w, http.StatusNotFound, fmt.Errorf("there is no profile %.50q", name))
			return
		}
		offer(w, name)
		_ = p.WriteTo(w, 0) // the client may have gone
	})
}

// profileCPU answers with a CPU profile, whose duration is the parameter seconds.
func profileCPU(w http.ResponseWriter, q *http.Request) {
	during := usualProfile
	if text := q.URL.Query().Get("seconds"); text != "" {
		n, err := strconv.Atoi(text)
		if during = time.Duration(n) * time.Second; err != nil || n < 1 || n > int(mostProfile/time.Second) {
			api.Fail(w, http.StatusBadRequest, fmt.Errorf("seconds %.20q is not a number from 1 to %d", text, mostProfile/time.Second))
			return
		}
	}
	offer(w, "profile")
	if err := pprof.StartCPUProfile(w); err != nil {
		w.Header().Del("Content-Disposition")
		api.Fail(w, http.StatusConflict, err) // there is one already
		return
	}
	defer pprof.StopCPUProfile()
	select {
	case <-q.Context().Done():
	case <-time.After(during):
	}
}

// offer sets the headers of an answer that is a file to download.
func offer(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
}
