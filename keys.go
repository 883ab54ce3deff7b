package failaware

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/internal/seal"
)

// KeyID names a key of the group. It tells nothing about the key.
type KeyID = seal.KeyID

// ErrNoKeys says that the node was started without a [Config.KeyFile].
var ErrNoKeys = errors.New("failaware: this node has no keys: it was started without a key file")

// remote reports whether addresses other than loopback may be used.
func (c *Config) remote() bool { return c.Insecure || c.KeyFile != "" }

// KeyFile returns the absolute path of the node's key file, or "".
func (n *Node) KeyFile() string { return n.cfg.KeyFile }

// ReloadKeys reads the key file again and adopts its keys: from now on, packets are
// sealed with the first one, and opened with all of them. If the file cannot be read, or
// holds no valid keys, the node keeps its keys and ReloadKeys says why. The error is
// otherwise [ErrNoKeys], [ErrClosed], or the cause of ctx.
//
// Peers that lack the first key do not hear this node: the log names them, and [Node.Status]
// says which keys each peer has.
func (n *Node) ReloadKeys(ctx context.Context) error {
	if n.cfg.KeyFile == "" {
		return ErrNoKeys
	}
	keys, err := n.reread(ctx)
	if err != nil {
		return err
	}
	n.logKeys(keys)
	return nil
}

// reread reads the key file, adopts its keys and names them, in one call at a time: keys that were
// read before the file changed would replace those that are there since.
func (n *Node) reread(ctx context.Context) ([]KeyID, error) {
	select {
	case n.rereading <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-n.rereading }()
	r, err := seal.ReadFile(n.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("failaware: %w", err)
	}
	return r.IDs(), n.loop.TakeRing(ctx, r)
}

// logKeys tells the log which keys the node has read, and who will not hear it. A loop that stands
// does not say who that is.
func (n *Node) logKeys(keys []KeyID) {
	n.logLater(hclog.Info, "read the keys again", "keys", fmt.Sprint(keys))
	s := n.Status()
	if s.Age < 0 {
		n.logLater(hclog.Warn, "which peers do not have the key that now seals is not known: the node does not answer", "key", keys[0])
	}
	for id := range deaf(s.Peers, keys[0]).All() {
		n.logLater(hclog.Warn, "a peer does not have the key that now seals, and will not hear this node", "peer", id, "key", keys[0])
	}
}

// deaf returns the peers that this node hears and that lack a key. Of a silent one nothing is
// known.
func deaf(peers []PeerStatus, key KeyID) (ids Set) {
	for i := range peers {
		if p := &peers[i]; p.Alive && !slices.Contains(p.Keys, key) {
			ids.Add(p.ID)
		}
	}
	return ids
}
