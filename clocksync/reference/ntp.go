package reference

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/beevik/ntp"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

const (
	ntpTimeout    = 2 * time.Second
	lookupTimeout = 5 * time.Second
	// lookupPeriod is the time between two lookups of the name of a healthy server.
	lookupPeriod = time.Hour
	// maxAddresses is the largest number of addresses used for a name.
	maxAddresses = 16
	// failuresToMove is the number of consecutive failures after which the next
	// address is tried.
	failuresToMove = 3
	// shortUnit bounds the rounding error of half the root delay plus the root
	// dispersion, which have units of 2⁻¹⁶ s, and of timestamps.
	shortUnit = 24 * time.Microsecond
)

// server is an NTP server with all its addresses.
type server struct {
	host  string
	port  uint16
	clock *hwclock.Clock
	rho   timed.Drift

	addrs    []netip.AddrPort
	at       int // index of the current address, modulo len(addrs)
	looked   time.Time
	failures int
	refused  map[netip.AddrPort]time.Time // when they denied service
}

func newServer(c Config, clock *hwclock.Clock, rho timed.Drift) *server {
	host, port, _ := splitServer(c.NTP)
	n, _ := strconv.ParseUint(port, 10, 16)
	return &server{host: host, port: uint16(n), clock: clock, rho: rho, refused: map[netip.AddrPort]time.Time{}}
}

func (s *server) poll(ctx context.Context) (Sample, error) {
	if err := s.lookup(ctx); err != nil {
		return Sample{}, err
	}
	addr := s.addrs[s.at%len(s.addrs)]
	sample, err := s.query(ctx, addr)
	if err == nil {
		s.failures = 0
		return sample, nil
	}
	switch s.failures++; {
	case s.denies(addr):
		s.addrs = slices.DeleteFunc(s.addrs, func(a netip.AddrPort) bool { return a == addr })
	case s.failures%failuresToMove == 0:
		s.at++
	}
	return sample, fmt.Errorf("%v: %w", addr, err)
}

// lookup looks up the addresses of the server if there are none, if none of them
// answers, or if they are old.
func (s *server) lookup(ctx context.Context) error {
	tried := len(s.addrs) > 0 && s.failures >= failuresToMove*len(s.addrs)
	if len(s.addrs) > 0 && !tried && time.Since(s.looked) < lookupPeriod {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", s.host)
	if err != nil {
		if len(s.addrs) > 0 {
			return nil // keep the old addresses
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
		if !s.denies(a) && len(s.addrs) < maxAddresses {
			s.addrs = append(s.addrs, a)
		}
	}
	if len(s.addrs) == 0 {
		return errGone
	}
	for i, a := range s.addrs { // keep a healthy address
		if a == current && !tried {
			s.at = i
		}
	}
	return nil
}

func (s *server) query(ctx context.Context, addr netip.AddrPort) (Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // that of the caller lasts as long as the node, and would keep every connection
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
	case r.IsKissOfDeath():
		return Sample{}, s.kissed(addr, r.KissCode)
	}
	if err := r.Validate(); err != nil {
		return Sample{}, &RejectedError{err.Error()}
	}
	return s.sample(addr, r)
}

// deniedFor is how long an address that has denied service is not asked. Its administrator may
// have meant it, or have mended a mistake since.
const deniedFor = 4 * time.Hour

// denies reports whether an address must not be asked, because it has denied service.
func (s *server) denies(addr netip.AddrPort) bool {
	at, ok := s.refused[addr]
	return ok && time.Since(at) < deniedFor
}

// kissed obeys a kiss of death.
func (s *server) kissed(addr netip.AddrPort, code string) error {
	switch code {
	case "RATE":
		return errSlow
	case "DENY", "RSTR":
		// A name may have ever other addresses.
		maps.DeleteFunc(s.refused, func(a netip.AddrPort, _ time.Time) bool { return !s.denies(a) })
		s.refused[addr] = time.Now()
	}
	return &RejectedError{"kiss of death " + strconv.QuoteToASCII(code)}
}

// earliest is before all times that UTC can still have. The stamps of a server whose clock is set
// to decades from now are read as such times, because NTP's seconds overflow.
var earliest = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// sample converts a valid answer.
func (s *server) sample(addr netip.AddrPort, r *ntp.Response) (Sample, error) {
	t := &r.Timestamps
	sent, received := timed.Instant(t.ClientXmit.UnixNano()), timed.Instant(t.ClientRecv.UnixNano())
	distance := r.RootDelay/2 + r.RootDispersion + max(r.Precision, 0) + shortUnit
	out := Sample{Delay: r.RTT, Distance: distance, Address: addr.String(), Stratum: int(r.Stratum)}
	if r.RootDelay < 0 || r.RootDispersion < 0 || received < sent || t.ServerXmit.Before(t.ServerRecv) {
		return out, &RejectedError{"contradictory timestamps"}
	}
	if t.ServerRecv.Before(earliest) {
		return out, &RejectedError{"its clock shows a time before 2025"}
	}
	out.Sample = clocksync.FromExchange(identifyServer(addr), sent, received,
		clocksync.Time(t.ServerRecv.UnixNano()), clocksync.Time(t.ServerXmit.UnixNano()), distance, s.rho)
	switch r.Leap {
	case ntp.LeapAddSecond:
		out.Leap = clocksync.LeapInsert
	case ntp.LeapDelSecond:
		out.Leap = clocksync.LeapDelete
	}
	return out.checked()
}
