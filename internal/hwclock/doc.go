// Package hwclock reads the hardware clock H of this node: monotone, never set,
// not slewed by time synchronization, and counting the time asleep. Every
// promise of the upper layers rests on durations of this clock.
//
// # Linux
//
// No single kernel clock will do. CLOCK_MONOTONIC stops while the machine is
// suspended and is slewed; CLOCK_BOOTTIME counts sleep but is slewed too;
// CLOCK_MONOTONIC_RAW is not slewed but stops asleep. Hence
//
//	H = RAW + (BOOTTIME − MONOTONIC)
//
// where the two slewed clocks serve only for their difference, which is the
// time asleep. The order of reading decides whether H can run backwards; see
// [Clock.Read].
//
// On amd64 the clocks are read through the code that the kernel maps into
// every process (the vDSO), less than 0.1 µs for the three readings. On other
// processors, and where that code cannot be used, they are system calls.
//
// # Other systems
//
//   - macOS: CLOCK_UPTIME_RAW in the place of RAW and MONOTONIC, and
//     CLOCK_MONOTONIC_RAW, which goes on during sleep there, in the place of
//     BOOTTIME. Suspends are detected.
//   - Windows: unbiased interrupt time in the place of RAW and MONOTONIC, and
//     interrupt time, which includes sleep, in the place of BOOTTIME. Suspends
//     are detected.
//   - BSD and others: the monotonic clock. Suspends are not detected, and whether
//     sleep is counted depends on the system (OpenBSD counts it). Such a machine
//     must not be suspended while a node runs on it. BSD slews this clock with the
//     wall clock, by up to 5000 ppm, so its synchronization must keep within ρ.
//
// Clock discipline and notices of clock steps exist on Linux only; without
// notices, kernel receive stamps are not used.
//
// # What no guest clock shows
//
// A virtual machine that was paused or restored from a snapshot by its
// hypervisor misses time in all of its clocks at once. That breaks the drift
// bound ρ, and only peers can notice it.
package hwclock
