// Package clockbound tells programs on this machine how far CLOCK_REALTIME may
// be from UTC, by a shared-memory segment in version 2 of the ClockBound layout.
// Programs that are linked with a version 2 client of ClockBound read it without
// a system call of their own.
//
// # What the segment says
//
// At as_of, CLOCK_REALTIME was within bound_nsec of UTC. From then on a reader
// adds max_drift_ppb of the time that has passed on CLOCK_MONOTONIC_COARSE: the
// drift bound ρ of the hardware clock and the fastest slewing of whatever
// disciplines the kernel's clock, which the writer must be told if it is faster
// than [DefaultSlew].
//
// A status other than Synchronized says how much of that still holds:
//   - Unknown: the node has no bound for UTC.
//   - Synchronized: the bound is as small as the node's configuration asks for.
//   - FreeRunning: there is a proven bound, but a larger one; or, by the reader's
//     own judgement, the segment has not been written for some seconds.
//   - Disrupted: the clock was stepped, or the machine slept, a moment ago.
//
// # Steps
//
// A step of CLOCK_REALTIME makes the segment wrong until the writer has been
// told of it by the kernel and has written Disrupted. That takes microseconds on
// an idle machine, and as long as the writer waits for a processor on a busy one.
// No reader of this protocol can close that gap. A writer that is dead or stopped
// writes nothing: its segment is void one minute after its last update.
//
// # Other versions
//
// Version 3 of the protocol has another layout and another path; its clients do
// not read this segment. The package works on Linux; elsewhere its functions fail
// with [errors.ErrUnsupported].
package clockbound
