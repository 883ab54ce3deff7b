package chaos

import (
	"os"
	"path/filepath"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/chaos/oracle"
)

// older is where the copy of a node's registers is.
func (n *node) older() string { return filepath.Join(n.disk.dir, "older") }

// copyStores copies the registers of nodes while they write. A file that is written meanwhile
// may be torn, as in a backup.
func copyStores(nodes []*node) error {
	for _, n := range nodes {
		if err := os.RemoveAll(n.older()); err != nil {
			return err
		}
		if err := run("", "cp", "-a", "--sparse=always", member.StoreDir(n.disk.dir), n.older()); err != nil {
			return err
		}
	}
	return nil
}

// rewind kills nodes, and starts them with the copies of their registers.
func (r *runner) rewind(nodes []*node) error {
	for _, n := range nodes {
		store := member.StoreDir(n.disk.dir)
		r.kill(n)
		<-n.process.Load().done
		if err := os.RemoveAll(store); err != nil {
			return err
		}
		if err := os.Rename(n.older(), store); err != nil {
			return err
		}
		n.torn = store // a torn copy may be refused
		r.write(oracle.Record{Kind: oracle.Rewound, Number: uint64(n.number), From: member.Now()})
		if err := r.start(n); err != nil {
			return err
		}
	}
	return nil
}
