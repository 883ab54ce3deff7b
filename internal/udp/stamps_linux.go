package udp

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// stamper turns the kernel's receive stamps, which are in a clock that can be
// slewed and stepped, into instants of the hardware clock. It only ever makes a
// receipt earlier than the time at which the batch was read, and does so only
// when it is certain not to make it too early.
type stamper struct {
	clock *hwclock.Clock
	watch *hwclock.StepWatch // nil: the kernel's stamps are not used
	count *counters

	// before was sampled when the socket was last found empty, so that packets
	// of the next batch were stamped after it. (Those that were on their way
	// just then show it by their stamps.)
	before, after hwclock.RealtimeSample
	usable        bool // the kernel's stamps, in the present batch
}

// enable asks the kernel for receive stamps. Without them, or without notice of
// clock steps, packets count as received when they are read: delay bounds are a
// little looser, and nothing else changes. So failing is not an error.
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

// idle reads the clock when the socket has been found empty.
func (s *stamper) idle() timed.Instant {
	if s.watch == nil {
		return s.clock.Now()
	}
	s.before = s.clock.SampleRealtime()
	return s.before.At
}

// begin is called as early as possible after a batch has been read.
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

// receipt returns when a packet of the batch counts as received.
func (s *stamper) receipt(stamp int64, stamped bool) timed.Instant {
	if !stamped || !s.usable {
		return s.after.At
	}
	return hwclock.Receipt(stamp, s.before, s.after)
}

// laterReceipt returns when packets that the kernel has coalesced with an earlier
// one count as received, of which first is the receipt.
//
// The kernel keeps one stamp for all of them. In most cases it is made when they
// have been put together, and is not before any of them. But packets that come
// out of a tunnel are stamped before, each for itself, and the stamp that stays is
// that of the first: the others may have come after it, by as long as the
// interface is polled in one go. A receipt that is too early makes a delay bound
// that is none, so only the first packet gets the stamp, which is never before its
// arrival, and the others count as received when they are read. That bound holds,
// and is looser by the time that they waited for the reader.
//
// From a loopback address it is different. The kernel takes such packets from the
// loopback interface only, which puts nothing together: what is one message there
// was sent as one, crossed as one, and was stamped afterwards.
func (s *stamper) laterReceipt(first timed.Instant, from netip.Addr) timed.Instant {
	if from.IsLoopback() {
		return first
	}
	return s.after.At
}

// end is called after the last packet of a batch. As long as more packets are
// waiting, they may be older than the last sample, which therefore does not
// become the one before them.
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
