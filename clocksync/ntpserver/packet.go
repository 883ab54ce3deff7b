package ntpserver

import (
	"math/bits"
	"time"

	protocol "github.com/facebook/time/ntp/protocol"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/serve"
)

const (
	packetSize = protocol.PacketSizeBytes

	leapAlarm       = 3 // unsynchronized
	oldestVersion   = 3
	newestVersion   = 4
	modeClient      = 3
	modeServer      = 4
	noStratum       = 16 // of an unsynchronized server
	kissRate        = 'R'<<24 | 'A'<<16 | 'T'<<8 | 'E'
	initializing    = 'I'<<24 | 'N'<<16 | 'I'<<8 | 'T' // the reference id of an unsynchronized server
	leastPoll       = 4                                // 16 s
	mostPoll        = 17                               // 36 h
	kissPoll        = 6                                // 64 s, the least poll interval in a RATE answer
	epochToUnix     = 2_208_988_800                    // seconds from 1900 to 1970
	nanos           = 1_000_000_000
	shortUnitsShift = 16 // the short format has 16 bits of seconds and 16 of fractions
)

// request holds the fields of a request that its answer depends on.
type request struct {
	version  uint8
	poll     int8
	sentSec  uint32 // the client's transmit timestamp, which identifies its answer
	sentFrac uint32
}

// parse reads a packet and returns answered if it is a valid request, or the reason
// to drop it. Leap indicators of requests have no meaning.
func parse(b []byte) (r request, o outcome) {
	if len(b) != packetSize {
		return r, badLength
	}
	var p protocol.Packet
	if p.UnmarshalBinary(b) != nil {
		return r, badLength
	}
	r = request{version: p.Settings >> 3 & 7, poll: p.Poll, sentSec: p.TxTimeSec, sentFrac: p.TxTimeFrac}
	switch {
	case p.Settings&7 != modeClient:
		return r, badMode
	case r.version < oldestVersion || r.version > newestVersion:
		return r, badVersion
	}
	return r, answered
}

// settings returns the first byte of an answer.
func settings(leap, version uint8) uint8 { return leap<<6 | version<<3 | modeServer }

// stamp returns a time in NTP's format, in units of 2⁻³² s, rounded down. Clients
// allow for the overflow of the seconds in 2036.
func stamp(t clocksync.Time) (sec, frac uint32) {
	s, ns := int64(t)/nanos, int64(t)%nanos
	if ns < 0 {
		s, ns = s-1, ns+nanos
	}
	return uint32(s + epochToUnix), uint32(uint64(ns) << 32 / nanos)
}

// short returns a duration in NTP's short format, rounded up. ok is false if the
// duration is too long.
func short(d time.Duration) (units uint32, ok bool) {
	hi, lo := bits.Mul64(uint64(max(d, 0)), 1<<shortUnitsShift)
	lo, carry := bits.Add64(lo, nanos-1, 0)
	hi += carry
	if hi >= nanos {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, nanos)
	return uint32(q), q <= 1<<32-1
}

// identity holds the fields that are common to all answers of a server.
type identity struct {
	stratum     uint8
	precision   int8
	referenceID uint32
}

// answer sets p to the answer to a request that arrived at most waited ago. It adds
// one nanosecond to the bound for the rounding of timestamps.
func (id *identity) answer(p *protocol.Packet, r *request, a serve.Answer, waited time.Duration) (synchronized bool) {
	// Subtracting the shortest possible wait makes the receive timestamp late, which
	// widens the client's bound. An early one would make the bound wrong.
	arrived := a.Time - clocksync.Time(waited-waited/waitSlack)
	units, fits := short(min(a.Bound, clocksync.UnknownBound-1) + 1)
	synchronized = a.Synchronized() && fits
	*p = protocol.Packet{Poll: clampPoll(r.poll), Precision: id.precision, OrigTimeSec: r.sentSec, OrigTimeFrac: r.sentFrac}
	if synchronized {
		p.Settings = settings(leapIndicator(a.Leap), r.version)
		p.Stratum, p.RootDispersion, p.ReferenceID = id.stratum, units, id.referenceID
		// A node corrects its clock continuously, so the last whole second is a valid
		// time of the last correction.
		p.RefTimeSec, _ = stamp(a.Time)
	} else {
		p.Settings, p.Stratum, p.ReferenceID = settings(leapAlarm, r.version), noStratum, initializing
		p.RootDispersion = 1<<32 - 1
	}
	p.RxTimeSec, p.RxTimeFrac = stamp(arrived)
	p.TxTimeSec, p.TxTimeFrac = stamp(a.Time)
	return synchronized
}

// Respond returns the packet in which a server answers a request that arrived at most
// waited ago, with the estimate a; nil if the request is not valid. Simulated worlds ask
// as clients do.
func Respond(request []byte, a serve.Answer, waited time.Duration) []byte {
	r, o := parse(request)
	if o != answered {
		return nil
	}
	var p protocol.Packet
	(&identity{stratum: 1}).answer(&p, &r, a, waited)
	b, _ := p.Bytes() // fixed-size fields are always written
	return b
}

// kiss sets p to the answer to a client that sends too many requests.
func (id *identity) kiss(p *protocol.Packet, r *request) {
	*p = protocol.Packet{Settings: settings(leapAlarm, r.version), Poll: max(clampPoll(r.poll), kissPoll), Precision: id.precision,
		ReferenceID: kissRate, OrigTimeSec: r.sentSec, OrigTimeFrac: r.sentFrac,
		RxTimeSec: r.sentSec, RxTimeFrac: r.sentFrac, TxTimeSec: r.sentSec, TxTimeFrac: r.sentFrac}
}

func leapIndicator(l clocksync.Leap) uint8 {
	if l > clocksync.LeapDelete {
		return leapAlarm
	}
	return uint8(l)
}

func clampPoll(p int8) int8 { return min(max(p, leastPoll), mostPoll) }
