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

// Options configure a server. The zero value is usable.
type Options struct {
	// Stratum is the distance from a primary clock, 1 to 15; zero means
	// DefaultStratum. Servers of one group should use the same stratum.
	Stratum uint8
	// ReferenceID identifies the time source, so that clients recognize servers with
	// the same one.
	ReferenceID uint32
	// PerSource and Total limit the answers to one source and to all.
	PerSource, Total Limit
}

// Defaults of the options.
const (
	// DefaultStratum is above that of public servers, which may be the references of
	// the group.
	DefaultStratum = 4

	defaultPerSecond, defaultBurst           = 8, 32
	defaultTotalPerSecond, defaultTotalBurst = 20_000, 2_000
)

const (
	// batch is the largest number of requests read at once.
	batch = 32
	// maxWait is the age at which requests are dropped, because their clients have
	// timed out.
	maxWait = time.Second
	// waitSlack bounds the rate error of every clock by one part in 64. The largest
	// configurable drift is one part in 100.
	waitSlack = 64
)

// WithDefaults returns the options with zero values replaced by defaults.
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

// Validate returns an error that names every invalid option.
func (o Options) Validate() error {
	o = o.WithDefaults()
	if o.Stratum >= noStratum {
		return fmt.Errorf("option Stratum: %d is outside [1, %d]", o.Stratum, noStratum-1)
	}
	return errors.Join(o.PerSource.check("PerSource"), o.Total.check("Total"))
}

// Server answers requests until it is closed; see [Listen].
type Server struct {
	conn   *udp.Conn
	clock  *hwclock.Clock
	source serve.Source
	id     identity
	limits limiter
	count  [outcomes]atomic.Uint64

	in  [batch]udp.Packet
	out [1]udp.Packet

	closing atomic.Bool
	done    chan struct{}
	once    sync.Once
	err     error // written before done is closed
}

// Listen starts a server at a UDP address such as "192.0.2.7:123". With a wildcard
// address such as ":123", the system chooses the source address of answers, and a
// client that sent its request to another address of this machine ignores them.
//
// The error names an invalid option or is that of the system, such as
// [syscall.EADDRINUSE] or [syscall.EACCES].
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

// Addr returns the server's local address.
func (s *Server) Addr() netip.AddrPort { return s.conn.LocalAddr() }

// Done returns a channel that is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close ends the server after the requests that it has already read. Every call
// returns the error that ended the server, if any.
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

// serve answers a batch. It sends each answer before it stamps the next one, because
// the kernel takes some microseconds to send an answer.
func (s *Server) serve(in []udp.Packet) error {
	for i := range in {
		var p protocol.Packet
		o := s.respond(&p, &in[i])
		s.count[o].Add(1)
		if !o.sends() {
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
		s.count[notSent].Add(uint64(len(s.out) - sent))
	}
	return nil
}

// respond sets p to the answer to a packet, if the outcome is to send one.
func (s *Server) respond(p *protocol.Packet, in *udp.Packet) outcome {
	r, o := parse(in.Buf[:in.N])
	if o != answered {
		return o
	}
	now := s.clock.Now()
	waited := now.Sub(in.Received)
	if waited > maxWait {
		return stale
	}
	switch o := s.limits.limit(in.Addr.Addr(), now); o {
	case kissed:
		s.id.kiss(p, &r)
		fallthrough
	case limitedSource, limitedAll:
		return o
	}
	// The hardware clock was read before the source, so waited covers the time
	// between the arrival and the reading of the source.
	if s.id.answer(p, &r, s.source(), max(waited, 0)) {
		return answered
	}
	return unsynchronized
}

// precision returns the shortest time between two readings of the clock, as a power
// of two of seconds.
func precision(now func() timed.Instant) int8 {
	const readings = 100
	least := time.Second
	for range readings {
		a := now()
		if d := now().Sub(a); d > 0 {
			least = min(least, d)
		}
	}
	// Round up: a nanosecond is a little more than 2⁻³⁰ s.
	return int8(bits.Len64(uint64(least-1))) - 29
}
