package fence_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/edict/fence"
	"github.com/failaware/failaware/timed"
)

// A write with an edict. A sender that got no answer repeats it, and it passes again.
func Example() {
	dir, err := os.MkdirTemp("", "fence")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := fence.Open(filepath.Join(dir, "fence"))
	if err != nil {
		panic(err)
	}
	defer f.Close()

	body := []byte("colour=blue")
	e := edict.Edict{Epoch: 1, Stamps: []edict.Stamp{{Node: 1, Counter: 1, Boot: timed.BootID(1), At: 100}}, Digest: edict.Sum(body)}
	write := func(v edict.Verdict) error {
		fmt.Printf("%s: %s\n", v, body) // the edict is on the disk before
		return nil
	}
	for range 2 {
		if _, err := f.Do("paint", &e, edict.Sum(body), write); err != nil {
			panic(err)
		}
	}
	// Output:
	// obey: colour=blue
	// repeated: colour=blue
}
