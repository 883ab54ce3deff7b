// Package clockbound publishes a bound on |CLOCK_REALTIME − UTC| to programs on the
// same machine, in a shared-memory segment with version 2 of the ClockBound layout.
// Programs linked with a version 2 client of ClockBound read it without a system
// call of their own.
//
// # Content of the segment
//
// At as_of, CLOCK_REALTIME was within bound_nsec of UTC. A reader adds
// max_drift_ppb of the time that has since passed on CLOCK_MONOTONIC_COARSE. This
// rate covers the drift bound ρ of the hardware clock and the fastest slewing of
// the kernel's clock. [Options.Slew] must be set if a time daemon slews faster than
// [DefaultSlew].
//
// The status is one of:
//   - Unknown: the node has no bound for UTC.
//   - Synchronized: the bound is as small as the node's configuration requires.
//   - FreeRunning: the bound is proven but larger, or, as judged by the reader, the
//     segment has not been written for some seconds.
//   - Disrupted: the clock was just stepped, or the machine was just suspended.
//
// # Steps
//
// A step of CLOCK_REALTIME makes the segment wrong until the kernel has notified
// the writer and the writer has written Disrupted. This takes microseconds on an
// idle machine, and longer if the writer waits for a processor. No reader of this
// protocol can close the gap. The segment of a dead or stopped writer is void one
// minute after its last update.
//
// # Other versions
//
// Version 3 of the protocol has another layout and path; its clients do not read
// this segment. The package requires Linux. On other systems its functions return
// [errors.ErrUnsupported].
package clockbound
