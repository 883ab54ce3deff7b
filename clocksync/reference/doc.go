// Package reference asks external references of UTC: NTP servers, the clock of a
// kernel that some program disciplines, and PTP hardware clocks. Each gives
// intervals for UTC at instants of the hardware clock, as [clocksync.Sample]; what
// they are worth together is found out by package clocksync.
//
// A [Poller] asks one reference from a goroutine of its own, at intervals with
// jitter. It asks a server that does not answer less and less often, looks its name up
// again, tries its other addresses, slows down when a server says that it asks too
// often, and never again asks an address that has refused service.
package reference
