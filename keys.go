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
	if err := n.reread(ctx); err != nil {
		return err
	}
	n.logKeys()
	return nil
}

// reread reads the key file and adopts its keys, in one call at a time: keys that were read before
// the file changed would replace those that are there since.
func (n *Node) reread(ctx context.Context) error {
	select {
	case n.rereading <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-n.rereading }()
	r, err := seal.ReadFile(n.cfg.KeyFile)
	if err != nil {
		return fmt.Errorf("failaware: %w", err)
	}
	return n.loop.TakeRing(ctx, r)
}

// logKeys tells the log which keys the node has read, and who will not hear it.
func (n *Node) logKeys() {
	s := n.Status()
	n.logLater(hclog.Info, "read the keys again", "keys", fmt.Sprint(s.Keys))
	for id := range deaf(s.Peers, s.Keys[0]).All() {
		n.logLater(hclog.Warn, "a peer does not have the key that now seals, and will not hear this node", "peer", id, "key", s.Keys[0])
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
