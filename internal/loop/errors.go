package loop

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/failaware/failaware/timed"
)

var (
	// ErrClosed: the loop has ended.
	ErrClosed = errors.New("failaware: the node has stopped")
	// ErrNotLeader: only a leader may do that.
	ErrNotLeader = errors.New("loop: this node does not lead")
	// ErrUnknownPeer: the loop does not know the peer.
	ErrUnknownPeer = errors.New("loop: unknown peer")
)

// DuplicateIDError says which process uses the node's id besides this one.
type DuplicateIDError struct {
	Boot  timed.BootID // this incarnation, which stopped
	Rival timed.BootID // the one that the peers keep
	// Addr is where a packet of the rival came from, if one has come.
	Addr netip.AddrPort
}

func (e *DuplicateIDError) Error() string {
	return fmt.Sprintf("loop: incarnation %v gives way to %v", e.Boot, e.Rival)
}
