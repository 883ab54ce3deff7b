package ntpserver

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/facebook/time/ntp/protocol"

	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// Options are the choices of a server. The zero value is sensible.
type Options struct {
	// Stratum is what the server says of its distance from a primary clock, 1 to
	// 15; zero means DefaultStratum. Servers of one group should say the same.
	Stratum uint8
	// ReferenceID goes with it: by it clients notice that two servers have their
	// time from the same place.
	ReferenceID uint32
	// PerSource and Total limit the answers to one address and to all.
	PerSource, Total Limit
}

// Defaults of the options.
const (
	// DefaultStratum is above that of public servers, of which the group may have
	// its time.
	DefaultStratum = 4

	defaultPerSecond, defaultBurst           = 8, 32
	defaultTotalPerSecond, defaultTotalBurst = 20_000, 2_000
)

const (
	// batch is how many requests are read together.
	batch = 32
	// maxWait is how long a request may have waited. Its client has given up.
	maxWait = time.Second
	// waitSlack is the rate error, one part in 64, that no clock of a node exceeds:
	// the largest drift that can be configured is one part in a hundred.
	waitSlack = 64
)

// WithDefaults returns the options with their zero values replaced.
func (o Options) WithDefaults() Options {
	if o.Stratum == 0 {
		o.Stratum = DefaultStratum
	}
	if o.PerSource == (Limit{}) {
		o.PerSource = Limit{defaultPerSecond, defaultBurst}
	}
	if o.Total == (Limit{}) {
		o.Total = Limit{defaultTotalPerSecond, defaultTotalBurst}
	}
	return o
}

// Validate names the option that is wrong.
func (o Options) Validate() error {
	o = o.WithDefaults()
	if o.Stratum >= unsynchronized {
		return fmt.Errorf("option Stratum: %d is outside [1, %d]", o.Stratum, unsynchronized-1)
	}
	return errors.Join(o.PerSource.check("PerSource"), o.Total.check("Total"))
}

// Server answers requests until it is closed. Make one with [Listen].
type Server struct {
	conn   *udp.Conn
	clock  *hwclock.Clock
	source serve.Source
	id     identity
	limits limiter
	count  counters

	in  [batch]udp.Packet
	out [1]udp.Packet

	closing atomic.Bool
	done    chan struct{}
	once    sync.Once
	err     error // written before done is closed
}

// Listen opens a server at a UDP address, as in "192.0.2.7:123", and starts to
// answer with what source says. At an address that stands for several, as in
// ":123", the system chooses from which one an answer comes; a client that had
// asked another one ignores it.
//
// The error says which option is wrong, or matches [syscall.EADDRINUSE] or
// [syscall.EACCES], or another error of the system.
func Listen(addr string, source serve.Source, opts Options) (*Server, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("ntpserver: %w", err)
	}
	opts = opts.WithDefaults()
	clock, err := hwclock.New()
	if err != nil {
		return nil, fmt.Errorf("ntpserver: %w", err)
	}
	conn, err := udp.Listen(addr, clock, udp.Options{Batch: batch, MaxPacket: packetSize, NoReceiveOffload: true})
	if err != nil {
		return nil, fmt.Errorf("ntpserver: %w", err)
	}
	s := &Server{conn: conn, clock: clock, source: source, done: make(chan struct{}),
		id: identity{stratum: opts.Stratum, precision: precision(clock.Now), referenceID: opts.ReferenceID}}
	s.limits.each, s.limits.all, s.limits.seed = opts.PerSource, opts.Total, maphash.MakeSeed()
	go s.run()
	return s, nil
}

// Addr returns the address that the server listens at.
func (s *Server) Addr() netip.AddrPort { return s.conn.LocalAddr() }

// Done is closed when the server has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close answers what it has read, and ends. The error, of this and further calls,
// is why the server had ended before, if it had.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.closing.Store(true)
		s.conn.Wake()
		<-s.done
		s.err = errors.Join(s.err, s.conn.Close())
	})
	return s.err
}

func (s *Server) run() {
	defer close(s.done)
	for !s.closing.Load() {
		n, err := s.conn.ReadBatch(s.in[:], timed.Never)
		if err == nil {
			err = s.serve(s.in[:n])
		}
		if err != nil {
			s.err = fmt.Errorf("ntpserver: %w", err)
			return
		}
	}
}

// serve answers a batch. Each answer leaves at once when it has been stamped: the
// kernel takes some microseconds for each, which would count as the delay of those
// that wait behind it.
func (s *Server) serve(in []udp.Packet) error {
	for i := range in {
		var p protocol.Packet
		if !s.consider(&p, &in[i]) {
			continue
		}
		b, err := p.Bytes()
		if err != nil {
			return err
		}
		s.out[0] = udp.Packet{Buf: b, N: len(b), Addr: in[i].Addr}
		sent, err := s.conn.WriteBatch(s.out[:])
		if err != nil {
			return err
		}
		s.count.notSent.Add(uint64(len(s.out) - sent))
	}
	return nil
}

// consider fills in the answer to a packet, or returns false if there is none.
func (s *Server) consider(p *protocol.Packet, in *udp.Packet) bool {
	r, v := parse(in.Buf[:in.N])
	switch v {
	case badLength:
		s.count.badLength.Add(1)
		return false
	case badVersion:
		s.count.badVersion.Add(1)
		return false
	case badMode:
		s.count.badMode.Add(1)
		return false
	}
	s.count.requests.Add(1)
	now := s.clock.Now()
	waited := now.Sub(in.Received)
	if waited > maxWait {
		s.count.stale.Add(1)
		return false
	}
	switch s.limits.ask(in.Addr.Addr(), now) {
	case tellRate:
		s.id.kiss(p, &r)
		s.count.kisses.Add(1)
		return true
	case ignoreSource:
		s.count.limitedSource.Add(1)
		return false
	case ignoreAll:
		s.count.limitedAll.Add(1)
		return false
	}
	// The hardware clock was read before the source, so no more than this has
	// passed since the arrival; and the answer is stamped last.
	if s.id.answer(p, &r, s.source(), max(waited, 0)) {
		s.count.answered.Add(1)
	} else {
		s.count.unsynchronized.Add(1)
	}
	return true
}

// precision returns the time that reading the clock takes, at least, as a power of
// two of seconds.
func precision(now func() timed.Instant) int8 {
	const readings = 100
	least := time.Second
	for range readings {
		a := now()
		if d := now().Sub(a); d > 0 {
			least = min(least, d)
		}
	}
	// 2ⁿ s are at least as long: a nanosecond is a little more than 2⁻³⁰ s.
	return int8(bits.Len64(uint64(least-1))) - 29
}
