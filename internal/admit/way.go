package admit

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Way is where packets to one peer go. The zero Way leads nowhere.
type Way[A comparable] struct {
	Listed A // the configured address of the peer, if there is one
	Addr   A
	Proved bool          // Addr is Listed, or has shown that it receives
	boot   timed.BootID  // the accepted incarnation when Addr was last confirmed
	stamp  timed.Instant // on its clock, of the packet that confirmed Addr
	other  Alternative[A]
}

// Alternative is another address from which a peer sends. Its incarnation must hear this
// node to be accepted, and the address must show that it receives, so packets go there
// too.
type Alternative[A comparable] struct {
	Addr   A
	Proved bool
	boot   timed.BootID // of the packet that came from there last
	until  timed.Instant
}

// Trusts reports whether packets for the peer may go to an address without another proof.
// The configured address of another peer needs one: a packet that is sent on from there
// would draw this peer's packets away.
func (w *Way[A]) Trusts(addr A) bool {
	var none A
	return addr != none && addr == w.Listed || w.Proved && addr == w.Addr
}

// Follow notes a packet of the peer's accepted incarnation that came from an address:
// packets follow it there, once the address is proved. Until then the address gets
// packets too, for as long as patience after the latest packet from there.
func (w *Way[A]) Follow(now timed.Instant, boot timed.BootID, sent timed.Instant, from A, proved bool, patience time.Duration) {
	if w.boot == boot && sent <= w.stamp {
		return // overtaken by a packet that may have come from elsewhere
	}
	if !proved && from != w.Addr {
		w.other = Alternative[A]{from, false, boot, now.Add(patience)}
		return
	}
	w.boot, w.stamp, w.Addr, w.Proved = boot, sent, from, proved
	if w.other.Addr == from {
		w.other = Alternative[A]{}
	}
}

// Meet notes a packet of an incarnation that is not accepted. It is answered where it
// sends from for a while.
func (w *Way[A]) Meet(now timed.Instant, boot timed.BootID, from A, proved bool, patience time.Duration) {
	if from != w.Addr {
		w.other = Alternative[A]{from, proved, boot, now.Add(patience)}
	} else if proved {
		w.Proved = true
	}
}

// Also returns where else than to Addr packets go, if anywhere. alive says that the
// accepted incarnation is heard; then packets go elsewhere only because it may have
// moved. Otherwise they go to the configured address too: another incarnation may wait
// there, and know no address of this node.
func (w *Way[A]) Also(now timed.Instant, alive bool) (a Alternative[A], ok bool) {
	var none A
	a = w.other
	if a.Addr != none && now < a.until && a.Addr != w.Addr && (!alive || a.boot == w.boot) {
		return a, true
	}
	return Alternative[A]{Addr: w.Listed, Proved: true}, !alive && w.Listed != none && w.Listed != w.Addr
}

// Restart forgets the alternative, whose time is of another clock.
func (w *Way[A]) Restart() { w.other = Alternative[A]{} }
