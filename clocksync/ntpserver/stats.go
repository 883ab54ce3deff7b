package ntpserver

import "sync/atomic"

// Stats counts packets since the server began to listen.
type Stats struct {
	Requests       uint64 `json:"requests"`       // well-formed ones
	Answered       uint64 `json:"answered"`       // with a time
	Unsynchronized uint64 `json:"unsynchronized"` // answered that UTC is not known well enough
	Kisses         uint64 `json:"kisses"`         // answered that they come too often
	LimitedSource  uint64 `json:"limited_source"` // dropped: the source has had its share
	LimitedAll     uint64 `json:"limited_all"`    // dropped: all together have had theirs
	Stale          uint64 `json:"stale"`          // dropped: they had waited too long
	BadLength      uint64 `json:"bad_length"`     // dropped: not 48 bytes
	BadVersion     uint64 `json:"bad_version"`    // dropped: neither version 3 nor 4
	BadMode        uint64 `json:"bad_mode"`       // dropped: not from a client
	NotSent        uint64 `json:"not_sent"`       // answers that the system did not take
}

type counters struct {
	requests, answered, unsynchronized, kisses atomic.Uint64
	limitedSource, limitedAll, stale           atomic.Uint64
	badLength, badVersion, badMode, notSent    atomic.Uint64
}

// Stats returns what was counted. It is safe for concurrent use.
func (s *Server) Stats() Stats {
	c := &s.count
	return Stats{
		Requests: c.requests.Load(), Answered: c.answered.Load(), Unsynchronized: c.unsynchronized.Load(),
		Kisses: c.kisses.Load(), LimitedSource: c.limitedSource.Load(), LimitedAll: c.limitedAll.Load(),
		Stale:      c.stale.Load(),
		BadLength:  c.badLength.Load() + s.conn.Stats().Get("received_truncated"), // those that are longer
		BadVersion: c.badVersion.Load(), BadMode: c.badMode.Load(), NotSent: c.notSent.Load(),
	}
}
