// Command kv is a key-value store that goes on in every part of a group that is
// split, and is one again when the parts meet. A script splits a group of three,
// writes on both sides, and merges; it runs in one process, over a broadcast in
// memory.
//
//	go run ./examples/kv
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica"
	"github.com/failaware/failaware/broadcast/replica/driver"
	"github.com/failaware/failaware/broadcast/replica/local"
	"github.com/failaware/failaware/timed"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := play(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kv:", err)
		os.Exit(1)
	}
}

// node is one member with its store.
type node struct {
	*store
	*driver.Driver
	member *local.Member
}

func (n *node) put(ctx context.Context, key, value string) error {
	return n.Submit(ctx, write{key, value}.encode(), broadcast.Options{Order: broadcast.Total, Atomicity: broadcast.Strict})
}

// play is the script.
func play(ctx context.Context, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	hub := local.NewHub()
	nodes := make([]*node, 3)
	for i := range nodes {
		n := &node{store: newStore(), member: hub.Join(timed.NodeID(i + 1))}
		d, err := driver.New(replica.Config{Self: n.member.Self()}, n.member, n.store, nil)
		if err != nil {
			return err
		}
		n.Driver, nodes[i] = d, n
		go func() { stop(d.Run(ctx)) }()
	}
	a, b, c := nodes[0], nodes[1], nodes[2]
	// settle waits until nodes show what is expected, and prints it.
	settle := func(title, want string, ns ...*node) error {
		for _, n := range ns {
			for n.String() != want {
				select {
				case <-time.After(time.Millisecond):
				case <-ctx.Done():
					return fmt.Errorf("%s: node %v has %q and not %q: %w", title, n.member.Self().Node, n, want, context.Cause(ctx))
				}
			}
			fmt.Fprintf(out, "%-12s node %v: %v\n", title, n.member.Self().Node, n)
		}
		return nil
	}

	hub.View(a.member, b.member, c.member)
	err := errors.Join(a.put(ctx, "colour", "blue"), settle("together", "colour=blue", a, b, c))

	hub.View(a.member)
	hub.View(b.member, c.member)
	err = errors.Join(err,
		a.put(ctx, "colour", "red"), a.put(ctx, "left", "1"),
		b.put(ctx, "colour", "green"), c.put(ctx, "colour", "yellow"), c.put(ctx, "right", "2"),
		settle("split", "colour=red left=1", a), settle("split", "colour=yellow right=2", b, c))

	hub.View(a.member, b.member, c.member)
	err = errors.Join(err, settle("merged", "colour=yellow left=1 right=2", a, b, c))
	return errors.Join(err, c.put(ctx, "again", "one"), settle("together", "again=one colour=yellow left=1 right=2", a, b, c))
}
