package replicate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// tally counts votes.
type tally struct{ votes map[string]int }

func (t *tally) Apply(op replicate.Operation) any {
	t.votes[string(op.Command)]++
	return t.votes[string(op.Command)]
}

func (t *tally) Snapshot(w io.Writer) error { return json.NewEncoder(w).Encode(t.votes) }
func (t *tally) Restore(r io.Reader) error  { return json.NewDecoder(r).Decode(&t.votes) }

// Three nodes count votes together. With RequireQuorum there is one count, and tally
// needs no Merge.
func ExampleStart() {
	majority, err := quorum.Parse("majority:1,2,3")
	if err != nil {
		panic(err)
	}
	ctx, net := context.Background(), memory.New(memory.Options{})
	var replicas []*replicate.Replica
	for id := failaware.NodeID(1); id <= 3; id++ {
		n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport(), Timing: failaware.WAN(),
			Quorum: majority, Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}})
		if err != nil {
			panic(err)
		}
		r, err := replicate.Start(n, &tally{votes: map[string]int{}}, replicate.Config{})
		if err != nil {
			panic(err)
		}
		defer r.Close()
		replicas = append(replicas, r)
	}
	for _, r := range replicas {
		a, err := r.Submit(ctx, []byte("yes"))
		fmt.Println(a.Result, a.Lasting, err)
	}
	// Output:
	// 1 true <nil>
	// 2 true <nil>
	// 3 true <nil>
}
