package udp

import (
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// Counter is a named number that only grows.
type Counter struct {
	Name  string
	Value uint64
}

// Stats are the counters of a socket, always all of them and in the same order.
//
//   - received_packets, received_bytes: delivered by ReadBatch.
//   - received_coalesced: those of them that shared a message of the kernel.
//   - received_quiet: those of them that waited for something else to wake the
//     reader, on Linux.
//   - received_truncated: longer than Options.MaxPacket, dropped.
//   - received_overflow: messages of the kernel, of one packet or several, that
//     it dropped at the socket: because the receive buffer was full, or their
//     checksum was wrong. The kernel does not tell them apart. Learnt with a
//     later packet, on Linux.
//   - clock_steps: batches whose kernel stamps were not used because the clock
//     that they are in was stepped.
//   - sent_packets, sent_bytes: accepted by the system.
//   - sent_together: those of them that shared a message of the kernel.
//   - offload_refused: one, if the kernel or a path refused messages of several
//     packets; from then on every packet is a message.
//   - receive_ERROR, send_ERROR: failures by the name of the error in lower
//     case, as in send_enobufs, and receive_other and send_other for the rest.
type Stats []Counter

// Get returns the counter of that name, or zero if there is none.
func (s Stats) Get(name string) uint64 {
	for _, c := range s {
		if c.Name == name {
			return c.Value
		}
	}
	return 0
}

// namedErrors are the errors that have counters of their own.
var namedErrors = [...]struct {
	errno syscall.Errno
	name  string
}{
	{syscall.EAGAIN, "eagain"}, // the socket's send buffer is full
	{syscall.ENOBUFS, "enobufs"},
	{syscall.ENOMEM, "enomem"},
	{syscall.EPERM, "eperm"},
	{syscall.EACCES, "eacces"},
	{syscall.EMSGSIZE, "emsgsize"},
	{syscall.EINVAL, "einval"},
	{syscall.ECONNREFUSED, "econnrefused"},
	{syscall.EHOSTUNREACH, "ehostunreach"},
	{syscall.EHOSTDOWN, "ehostdown"},
	{syscall.ENETUNREACH, "enetunreach"},
	{syscall.ENETDOWN, "enetdown"},
	{syscall.EADDRNOTAVAIL, "eaddrnotavail"},
	{syscall.EAFNOSUPPORT, "eafnosupport"},
}

// errorCounters counts failures of one direction. The last counter is for all other
// errors.
type errorCounters [len(namedErrors) + 1]atomic.Uint64

func (e *errorCounters) add(errno syscall.Errno) {
	for i := range namedErrors {
		if namedErrors[i].errno == errno {
			e[i].Add(1)
			return
		}
	}
	e[len(namedErrors)].Add(1)
}

func (e *errorCounters) appendTo(s Stats, direction string) Stats {
	for i := range namedErrors {
		s = append(s, Counter{direction + namedErrors[i].name, e[i].Load()})
	}
	return append(s, Counter{direction + "other", e[len(namedErrors)].Load()})
}

type counters struct {
	receivedPackets, receivedBytes atomic.Uint64
	coalesced, quiet               atomic.Uint64
	truncated, overflow, steps     atomic.Uint64
	sentPackets, sentBytes         atomic.Uint64
	together, refused              atomic.Uint64
	receiveErrors, sendErrors      errorCounters
	unsent                         unsent
}

// failed counts a packet to an address that the system has refused.
func (c *counters) failed(to netip.AddrPort, errno syscall.Errno) {
	c.sendErrors.add(errno)
	c.unsent.note(to, errno, time.Now())
}

func (c *counters) stats() Stats {
	s := make(Stats, 0, 11+2*len(c.receiveErrors))
	s = append(s,
		Counter{"received_packets", c.receivedPackets.Load()},
		Counter{"received_bytes", c.receivedBytes.Load()},
		Counter{"received_coalesced", c.coalesced.Load()},
		Counter{"received_quiet", c.quiet.Load()},
		Counter{"received_truncated", c.truncated.Load()},
		Counter{"received_overflow", c.overflow.Load()},
		Counter{"clock_steps", c.steps.Load()},
		Counter{"sent_packets", c.sentPackets.Load()},
		Counter{"sent_bytes", c.sentBytes.Load()},
		Counter{"sent_together", c.together.Load()},
		Counter{"offload_refused", c.refused.Load()},
	)
	return c.sendErrors.appendTo(c.receiveErrors.appendTo(s, "receive_"), "send_")
}
