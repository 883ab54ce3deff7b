package udp

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// stamper converts the kernel's receive stamps, from a clock that can be slewed and
// stepped, to instants of the hardware clock. A conversion only makes a receipt earlier
// than the reading of the batch, and only if the result is certainly not too early.
type stamper struct {
	clock *hwclock.Clock
	watch *hwclock.StepWatch // nil: the kernel's stamps are not used
	count *counters

	// before was sampled when the socket was last found empty, so the packets of
	// the next batch were stamped after it. (The stamps of packets that arrived at
	// that moment show it.)
	before, after hwclock.RealtimeSample
	usable        bool // whether the kernel's stamps are usable in the present batch
}

// enable asks the kernel for receive stamps. Without them, or without notice of clock
// steps, packets count as received when they are read: delay bounds are slightly
// looser, and nothing else changes. So a failure is not an error.
func (s *stamper) enable(fd int) {
	watch, err := hwclock.NewStepWatch()
	if err != nil {
		return
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) != nil {
		_ = watch.Close()
		return
	}
	s.watch = watch
	s.before = s.clock.SampleRealtime()
}

// idle reads the clock right after the socket was found empty.
func (s *stamper) idle() timed.Instant {
	if s.watch == nil {
		return s.clock.Now()
	}
	s.before = s.clock.SampleRealtime()
	return s.before.At
}

// begin must be called as early as possible after a batch has been read.
func (s *stamper) begin() {
	if s.watch == nil {
		s.after.At = s.clock.Now()
		return
	}
	s.after = s.clock.SampleRealtime()
	s.usable = !s.watch.Stepped()
	if !s.usable {
		s.count.steps.Add(1)
	}
}

// receipt returns the receipt of a packet of the batch.
func (s *stamper) receipt(stamp int64, stamped bool) timed.Instant {
	if !stamped || !s.usable {
		return s.after.At
	}
	return hwclock.Receipt(stamp, s.before, s.after)
}

// laterReceipt returns the receipt of packets that the kernel has coalesced with an
// earlier one, whose receipt is first.
//
// The kernel keeps one stamp for all of them. Usually it makes the stamp after joining
// them, so it is not before any of them. But packets that come out of a tunnel are
// stamped before, one by one, and the stamp of the first one remains: the others may
// have come after it, by as long as one poll of the interface takes. A receipt that is
// too early makes a delay bound wrong. So only the first packet gets the stamp, which
// is never before its arrival, and the others count as received when they are read.
// Their bound is valid, and looser by the time that they waited for the reader.
//
// Packets from a loopback address are different. The kernel accepts them from the
// loopback interface only, which joins nothing: such a message was sent as one, crossed
// as one, and was stamped afterwards.
func (s *stamper) laterReceipt(first timed.Instant, from netip.Addr) timed.Instant {
	if from.IsLoopback() {
		return first
	}
	return s.after.At
}

// end must be called after the last packet of a batch. While more packets are waiting,
// they may be older than the last sample, so that sample does not become the one before
// them.
func (s *stamper) end(drained bool) {
	if drained || !s.usable {
		s.before = s.after
	}
}

func (s *stamper) close() {
	if s.watch != nil {
		_ = s.watch.Close()
	}
}
