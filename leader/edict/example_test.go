package edict_test

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// A store obeys the edict of the second leader. The request of the first one comes late,
// and is refused: node 2 voted for both, and for the second one later.
func ExampleVerifier() {
	vote := func(node timed.NodeID, at timed.Instant) edict.Stamp {
		return edict.Stamp{Node: node, Counter: 1, Boot: timed.BootID(node), At: at}
	}
	former, latest := []byte("colour=red"), []byte("colour=blue")
	first := edict.Edict{Epoch: 1, Stamps: []edict.Stamp{vote(1, 100), vote(2, 100)}, Digest: edict.Sum(former)}
	second := edict.Edict{Epoch: 1, Stamps: []edict.Stamp{vote(2, 900), vote(3, 500)}, Digest: edict.Sum(latest)}

	var store edict.Verifier
	fmt.Println(store.Accept("paint", &second, edict.Sum(latest)))
	_, err := store.Accept("paint", &first, edict.Sum(former))
	fmt.Println(errors.Is(err, edict.ErrStale))
	// Output:
	// obey <nil>
	// true
}
