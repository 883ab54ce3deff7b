package timed

import (
	"errors"
	"fmt"
	"time"
)

// ErrMismatch is matched by every [MismatchError].
var ErrMismatch = errors.New("failaware: settings differ from a peer's")

// MismatchError names a peer whose ρ or Δ differs, and both values. It matches
// [ErrMismatch].
type MismatchError struct {
	Peer NodeID
	// ρ in parts per billion: of this node, and of the peer.
	MaxDrift, PeerMaxDrift Drift
	// Δ: of this node, and of the peer.
	FastThreshold, PeerFastThreshold time.Duration
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("failaware: settings differ from those of node %v: %s", e.Peer, e.Detail())
}

// Detail names the settings that differ, with both values.
func (e *MismatchError) Detail() string {
	drift := fmt.Sprintf("MaxDrift is %d ppb here and %d ppb there", int64(e.MaxDrift), int64(e.PeerMaxDrift))
	fast := fmt.Sprintf("FastThreshold is %v here and %v there", e.FastThreshold, e.PeerFastThreshold)
	switch {
	case e.MaxDrift == e.PeerMaxDrift:
		return fast
	case e.FastThreshold == e.PeerFastThreshold:
		return drift
	}
	return drift + "; " + fast
}

// Is reports whether target is ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }
