package failaware

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/failaware/failaware/internal/seal"
)

// KeyID names a key of the group. It tells nothing about the key.
type KeyID = seal.KeyID

// ErrNoKeys says that the node was started without a [Config.KeyFile].
var ErrNoKeys = errors.New("failaware: this node has no keys: it was started without a key file")

// remote reports whether addresses other than loopback may be used.
func (c *Config) remote() bool { return c.Insecure || c.KeyFile != "" }

// KeyFile returns the absolute path of the node's key file, or "".
func (n *Node) KeyFile() string {
	if n.cfg.KeyFile == "" {
		return ""
	}
	path, err := filepath.Abs(n.cfg.KeyFile)
	if err != nil {
		return n.cfg.KeyFile // the working directory is gone
	}
	return path
}

// ReloadKeys reads the key file again and adopts its keys: from now on, packets are
// sealed with the first one, and opened with all of them. If the file cannot be read, or
// holds no valid keys, the node keeps its keys and ReloadKeys says why. The error is
// otherwise [ErrNoKeys], [ErrClosed], or the cause of ctx.
//
// Peers that lack the first key do not hear this node: [Node.Status] says which keys
// each peer has.
func (n *Node) ReloadKeys(ctx context.Context) error {
	if n.cfg.KeyFile == "" {
		return ErrNoKeys
	}
	r, err := seal.ReadFile(n.KeyFile()) // who reads of it may be in another directory
	if err != nil {
		return fmt.Errorf("failaware: %w", err)
	}
	return n.loop.TakeRing(ctx, r)
}
