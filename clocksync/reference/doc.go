// Package reference polls external references of UTC: NTP servers, disciplined kernel
// clocks, and PTP hardware clocks. Each poll gives an interval for UTC at an instant
// of the hardware clock, as a [clocksync.Sample]. Package clocksync combines them.
//
// A [Poller] polls one reference at intervals with jitter. If a server does not
// answer, the poller backs off exponentially, looks up its name again, and tries its
// other addresses. It slows down after a RATE kiss until many polls have succeeded, and
// never again polls an address that has denied service.
package reference
