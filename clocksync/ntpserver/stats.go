package ntpserver

// Stats counts packets since the server began to listen.
type Stats struct {
	Requests       uint64 `json:"requests"`       // well-formed requests
	Answered       uint64 `json:"answered"`       // answered with a time
	Unsynchronized uint64 `json:"unsynchronized"` // answered that UTC is not known well enough
	Kisses         uint64 `json:"kisses"`         // answered RATE
	LimitedSource  uint64 `json:"limited_source"` // dropped because of PerSource
	LimitedAll     uint64 `json:"limited_all"`    // dropped because of Total
	Stale          uint64 `json:"stale"`          // dropped after waiting too long
	BadLength      uint64 `json:"bad_length"`     // dropped because not 48 bytes long
	BadVersion     uint64 `json:"bad_version"`    // dropped because neither version 3 nor 4
	BadMode        uint64 `json:"bad_mode"`       // dropped because not from a client
	NotSent        uint64 `json:"not_sent"`       // answers that the system refused to send
}

// outcome is the fate of a packet, by which packets are counted.
type outcome uint8

const (
	answered outcome = iota
	unsynchronized
	kissed
	limitedSource
	limitedAll
	stale
	badLength
	badVersion
	badMode
	notSent // counted in addition
	outcomes
)

// sends reports whether packets with this outcome are answered.
func (o outcome) sends() bool { return o <= kissed }

// Stats returns the counters. It is safe for concurrent use.
func (s *Server) Stats() Stats {
	count := func(o outcome) uint64 { return s.count[o].Load() }
	t := Stats{
		Answered: count(answered), Unsynchronized: count(unsynchronized), Kisses: count(kissed),
		LimitedSource: count(limitedSource), LimitedAll: count(limitedAll), Stale: count(stale),
		BadLength:  count(badLength) + s.conn.Stats().Get("received_truncated"), // longer packets
		BadVersion: count(badVersion), BadMode: count(badMode), NotSent: count(notSent),
	}
	t.Requests = t.Answered + t.Unsynchronized + t.Kisses + t.LimitedSource + t.LimitedAll + t.Stale
	return t
}
