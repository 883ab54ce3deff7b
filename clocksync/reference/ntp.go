package reference

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/beevik/ntp"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

const (
	// ntpTimeout is how long an answer may take.
	ntpTimeout = 2 * time.Second
	// lookupTimeout is how long looking up a name may take, and lookupEvery how
	// often it is done while all is well.
	lookupTimeout = 5 * time.Second
	lookupEvery   = time.Hour
	// maxAddresses is how many addresses of a name are used.
	maxAddresses = 16
	// failuresToMove is after how many failures in a row another address is tried.
	failuresToMove = 3
	// shortUnit is what the format of a packet can cut off the root delay and the root
	// dispersion: 2⁻¹⁶ s, half of it for the delay, and the rounding of stamps.
	shortUnit = 24 * time.Microsecond
)

// server is an NTP server, by its name.
type server struct {
	host  string
	port  uint16
	clock *hwclock.Clock
	rho   timed.Drift

	addrs    []netip.AddrPort
	at       int // whose turn it is
	looked   time.Time
	failures int
	refused  map[netip.AddrPort]bool
}

func newServer(c Config, clock *hwclock.Clock, rho timed.Drift) *server {
	host, port, _ := splitServer(c.NTP)
	n, _ := strconv.ParseUint(port, 10, 16)
	return &server{host: host, port: uint16(n), clock: clock, rho: rho, refused: map[netip.AddrPort]bool{}}
}

func (s *server) ask(ctx context.Context) (Sample, error) {
	if err := s.lookup(ctx); err != nil {
		return Sample{}, err
	}
	addr := s.addrs[s.at%len(s.addrs)]
	sample, err := s.query(ctx, addr)
	if err == nil {
		s.failures = 0
		return sample, nil
	}
	if s.failures++; s.failures%failuresToMove == 0 || s.refused[addr] {
		s.at++
	}
	return sample, fmt.Errorf("%v: %w", addr, err)
}

// lookup finds the addresses of the server, at first, from time to time, and when none
// of those known answers.
func (s *server) lookup(ctx context.Context) error {
	tried := len(s.addrs) > 0 && s.failures >= failuresToMove*len(s.addrs)
	if len(s.addrs) > 0 && !tried && time.Since(s.looked) < lookupEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", s.host)
	if err != nil {
		if len(s.addrs) > 0 {
			return nil // better than none
		}
		return err
	}
	s.looked, s.failures = time.Now(), 0
	var current netip.AddrPort
	if len(s.addrs) > 0 {
		current = s.addrs[s.at%len(s.addrs)]
	}
	s.addrs = s.addrs[:0]
	for _, ip := range found {
		a := netip.AddrPortFrom(ip.Unmap(), s.port)
		if !s.refused[a] && len(s.addrs) < maxAddresses {
			s.addrs = append(s.addrs, a)
		}
	}
	if len(s.addrs) == 0 {
		return errGone
	}
	for i, a := range s.addrs { // a server that is well is kept
		if a == current && !tried {
			s.at = i
		}
	}
	return nil
}

func (s *server) query(ctx context.Context, addr netip.AddrPort) (Sample, error) {
	before := s.clock.Read().Epoch
	r, err := ntp.QueryWithOptions(addr.String(), ntp.QueryOptions{
		Timeout:       ntpTimeout,
		GetSystemTime: func() time.Time { return time.Unix(0, int64(s.clock.Now())) },
		Dialer: func(_, remote string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, "udp", remote)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
			}
			return c, err
		},
	})
	switch {
	case err != nil:
		return Sample{}, err
	case s.clock.Read().Epoch != before:
		return Sample{}, errSlept
	case r.IsKissOfDeath():
		return Sample{}, s.kissed(addr, r.KissCode)
	}
	if err := r.Validate(); err != nil {
		return Sample{}, &RejectedError{err.Error()}
	}
	return s.sample(addr, r, before)
}

// kissed obeys a server that does not want to be asked.
func (s *server) kissed(addr netip.AddrPort, code string) error {
	switch code {
	case "RATE":
		return errSlow
	case "DENY", "RSTR":
		s.refused[addr] = true
	}
	return &RejectedError{"kiss of death " + strconv.QuoteToASCII(code)}
}

// sample turns a valid answer into an interval.
func (s *server) sample(addr netip.AddrPort, r *ntp.Response, epoch uint32) (Sample, error) {
	t := &r.Timestamps
	sent, received := timed.Instant(t.ClientXmit.UnixNano()), timed.Instant(t.ClientRecv.UnixNano())
	distance := r.RootDelay/2 + r.RootDispersion + max(r.Precision, 0) + shortUnit
	out := Sample{Epoch: epoch, Delay: r.RTT, Distance: distance, Address: addr.String(), Stratum: int(r.Stratum)}
	if r.RootDelay < 0 || r.RootDispersion < 0 || received < sent || t.ServerXmit.Before(t.ServerRecv) {
		return out, &RejectedError{"times that contradict each other"}
	}
	out.Sample = clocksync.FromExchange(identifyServer(addr), sent, received,
		clocksync.Time(t.ServerRecv.UnixNano()), clocksync.Time(t.ServerXmit.UnixNano()), distance, s.rho)
	switch r.Leap {
	case ntp.LeapAddSecond:
		out.Leap = clocksync.LeapInsert
	case ntp.LeapDelSecond:
		out.Leap = clocksync.LeapDelete
	}
	if !out.Valid() {
		return out, &RejectedError{"its error is larger than " + clocksync.MaxError.String()}
	}
	return out, nil
}

// isRejected reports whether an error is about an answer that has come.
func isRejected(err error) bool {
	_, rejected := errors.AsType[*RejectedError](err)
	return rejected
}
