package api

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// refusalsEvery is the time from one message about refused requests to the next.
const refusalsEvery = time.Minute

// refusals counts the requests of connections for which there was no room.
type refusals struct {
	log hclog.Logger // nil: nobody is told

	mu     sync.Mutex
	count  uint64
	logged uint64    // of these
	last   time.Time // when
}

// note counts a refusal, and logs those since the last message if that was long ago.
func (r *refusals) note() {
	if untold := r.add(time.Now()); untold > 0 && r.log != nil {
		r.log.Warn("requests are refused: "+errTooMany.Error(), "count", untold)
	}
}

// add counts a refusal, and returns how many to tell of now.
func (r *refusals) add(now time.Time) (untold uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	if r.logged > 0 && now.Sub(r.last) < refusalsEvery {
		return 0
	}
	untold = r.count - r.logged
	r.logged, r.last = r.count, now
	return untold
}

// Refused returns how many requests were refused because there were too many connections.
func (s *Server) Refused() uint64 {
	s.refusals.mu.Lock()
	defer s.refusals.mu.Unlock()
	return s.refusals.count
}

// LogTo has the server log refused requests. It must be called before any of the methods
// that serve.
func (s *Server) LogTo(log hclog.Logger) { s.refusals.log = log }
