package failaware

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/ntpserver"
	"github.com/failaware/failaware/clocksync/serve"
)

// NTPConfig configures the NTP server of a node; see package
// [github.com/failaware/failaware/clocksync/ntpserver].
type NTPConfig struct {
	// Listen is the UDP address, as in "192.0.2.7:123". Clients need no
	// authentication and get none, so any address is allowed.
	Listen string
	// Stratum is what the server says of its distance from a primary clock, 1 to
	// 15. Zero means 4. It should be the same everywhere in the group.
	Stratum uint8
	// PerSource limits the answers to one address, and Total those to all. Zero
	// means 8 a second after a burst of 32, and 20,000 a second after 2,000.
	PerSource, Total NTPLimit
}

// NTPLimit is how many requests are answered: Burst at once, and PerSecond in
// the long run.
type NTPLimit = ntpserver.Limit

// NTPStats counts the packets of an NTP server.
type NTPStats = ntpserver.Stats

// ClockBoundConfig configures the shared-memory segment for version 2 clients of
// ClockBound; see package [github.com/failaware/failaware/clocksync/clockbound].
type ClockBoundConfig struct {
	// Path is the segment's file, /var/run/clockbound/shm0 for clients that are
	// not told another one. The last directory is made if it is missing.
	Path string
	// MaxSlew is how fast CLOCK_REALTIME is slewed at most by whatever disciplines
	// it, in parts per billion. Zero means 500,000, which is what the kernel does
	// by itself; for chrony it must be its maxslewrate, 83,333,000 by default.
	MaxSlew int64
}

// options returns the choices for the server.
func (c *NTPConfig) options(group string) ntpserver.Options {
	return ntpserver.Options{Stratum: c.Stratum, ReferenceID: referenceID(group), PerSource: c.PerSource, Total: c.Total}
}

// referenceID stands for where the nodes of a group have their time from, which is
// from each other: a client that asks two of them has one opinion, not two.
func referenceID(group string) uint32 {
	h := sha256.Sum256([]byte("failaware reference\x00" + group))
	return binary.BigEndian.Uint32(h[:])
}

// checkOutputs checks what serves time to other programs.
func (c *Config) checkOutputs() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if n := c.NTP; n != nil {
		if err := checkAddr(n.Listen, true, true); err != nil {
			bad("NTP.Listen: %w", err)
		}
		if err := n.options(c.Group).Validate(); err != nil {
			bad("NTP: %w", err)
		}
		if c.Transport != nil {
			bad("NTP: with a Transport, the node's clock is not this machine's")
		}
	}
	if b := c.ClockBound; b != nil {
		if b.Path == "" {
			bad("ClockBound.Path: a path is needed")
		}
		if b.MaxSlew < 0 || b.MaxSlew > clockbound.MaxSlew {
			bad("ClockBound.MaxSlew: %d ppb is outside [0, %d]", b.MaxSlew, clockbound.MaxSlew)
		}
		if c.Transport != nil {
			bad("ClockBound: with a Transport, the node's clock is not this machine's")
		}
	}
	return errs
}

// utc is what other programs are told.
func (n *Node) utc() serve.Answer {
	r := n.Clock()
	return serve.Answer{Time: r.Time, Bound: r.UTCBound, External: r.Status == clocksync.External, Leap: r.Leap}
}

// ErrServeTime is matched by the error of [Start] when the NTP server or the
// segment of [Config.ClockBound] cannot be started; the text says why.
var ErrServeTime = errors.New("failaware: time cannot be served to other programs")

// outputs are what serves time to other programs.
type outputs struct {
	ntp     *ntpserver.Server  // nil: off
	segment *clockbound.Writer // nil: off
}

// startOutputs starts what the configuration asks for. The source must work
// already.
func (c *Config) startOutputs(ctx context.Context, source serve.Source) (o outputs, err error) {
	if n := c.NTP; n != nil {
		if o.ntp, err = ntpserver.Listen(n.Listen, source, n.options(c.Group)); err != nil {
			return outputs{}, fmt.Errorf("%w: NTP: %w", ErrServeTime, err)
		}
	}
	if b := c.ClockBound; b != nil {
		opts := clockbound.Options{Drift: c.Timing.MaxDrift, Slew: b.MaxSlew}
		if o.segment, err = clockbound.Create(ctx, b.Path, source, opts); err != nil {
			return outputs{}, errors.Join(fmt.Errorf("%w: ClockBound: %w", ErrServeTime, err), o.close())
		}
	}
	return o, nil
}

func (o outputs) close() (err error) {
	if o.segment != nil {
		err = o.segment.Close()
	}
	if o.ntp != nil {
		err = errors.Join(err, o.ntp.Close())
	}
	return err
}

// watchOutputs logs where the NTP server is, and what it has done when it has ended;
// should it end before the node, the node goes on.
func (n *Node) watchOutputs() {
	if n.outputs.ntp == nil {
		return
	}
	n.log.Info("NTP server", "address", n.outputs.ntp.Addr())
	select {
	case <-n.done:
	case <-n.outputs.ntp.Done():
		if err := n.outputs.ntp.Close(); err != nil {
			n.log.Error("the NTP server has ended", "error", err)
		}
	}
	c := n.outputs.ntp.Stats()
	n.log.Info("NTP server ended", "requests", c.Requests, "answered", c.Answered, "unsynchronized", c.Unsynchronized,
		"kisses", c.Kisses, "limited", c.LimitedSource+c.LimitedAll, "malformed", c.BadLength+c.BadMode+c.BadVersion)
}

// NTPAddr returns the address of the node's NTP server, which is not valid if it
// has none.
func (n *Node) NTPAddr() netip.AddrPort {
	if n.outputs.ntp == nil {
		return netip.AddrPort{}
	}
	return n.outputs.ntp.Addr()
}

// NTPStats returns what the node's NTP server has counted; ok is false if it has
// none.
func (n *Node) NTPStats() (s NTPStats, ok bool) {
	if n.outputs.ntp == nil {
		return s, false
	}
	return n.outputs.ntp.Stats(), true
}
