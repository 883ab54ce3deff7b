package chaos

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/seal"
)

// keyring has the keys of the group. At most one rotation is under way.
type keyring struct {
	mu       sync.Mutex
	lines    []string
	rotation chan error // has the result of the rotation under way; nil without one
}

func newKeyring() *keyring {
	k := seal.NewKey()
	return &keyring{lines: []string{k.Text()}}
}

// write replaces a node's key file.
func (k *keyring) write(path string) error {
	k.mu.Lock()
	text := strings.Join(k.lines, "\n") + "\n"
	k.mu.Unlock()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// rotate begins to replace the key: all nodes accept the new key, then use it, then forget the
// old one. A step begins when all nodes have done the previous one.
func (k *keyring) rotate(r *runner) {
	if k.rotation != nil {
		return
	}
	k.rotation = make(chan error, 1)
	next := seal.NewKey()
	go func() {
		k.mu.Lock()
		old := k.lines[0]
		k.mu.Unlock()
		var err error
		for _, lines := range [][]string{{old, next.Text()}, {next.Text(), old}, {next.Text()}} {
			k.mu.Lock()
			k.lines = lines
			k.mu.Unlock()
			for i := 1; i <= r.Nodes && err == nil; i++ {
				err = k.install(r, i)
			}
		}
		k.rotation <- err
	}()
}

// rotationWait is how long a node may take to adopt keys. It may be down for a while.
const rotationWait = time.Minute

// install makes a node adopt the keys, now or when it starts again.
func (k *keyring) install(r *runner, number int) error {
	if err := k.write(r.keyFile(number)); err != nil {
		return err
	}
	for limit := time.Now().Add(rotationWait); ; time.Sleep(10 * time.Millisecond) {
		_, err := r.nodes[number].process.Load().ask(member.Command{Do: member.DoReload})
		switch {
		case err == nil, errors.Is(err, errEnded): // a process that starts reads the file
			return nil
		case time.Now().After(limit):
			return fmt.Errorf("node %d: %w", number, err)
		}
	}
}

// wait waits for the end of the rotation under way.
func (k *keyring) wait() error {
	if k.rotation == nil {
		return nil
	}
	err := <-k.rotation
	k.rotation = nil
	return err
}
