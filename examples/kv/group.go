package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// node is a member with its store.
type node struct {
	id    failaware.NodeID
	store *store
	*replicate.Replica
}

// put writes a key, and returns its version.
func (n *node) put(ctx context.Context, key, value string) (version any, err error) {
	a, err := n.Submit(ctx, write{key, value}.encode())
	if err != nil {
		return nil, fmt.Errorf("node %v puts %s: %w", n.id, key, err)
	}
	return a.Result, nil
}

// expect waits until the latest state equals a text, and prints it. The first look
// suffices, unless the machine was so busy that the view of the node split.
func (n *node) expect(ctx context.Context, want string, out io.Writer) error {
	for {
		var have string
		fresh, err := n.ReadLatest(ctx, func() { have = n.store.String() })
		switch {
		case err != nil:
			return fmt.Errorf("node %v reads: %w", n.id, err)
		case have == want:
			fmt.Fprintf(out, "  node %v has %s (view of %v, up to date: %v)\n", n.id, have, fresh.View.Set, fresh.UpToDate)
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("node %v has %q instead of %q: %w", n.id, have, want, context.Cause(ctx))
		}
	}
}

// group has the nodes, and the network that carries their packets.
type group struct {
	net   *memory.Network
	nodes []*node
}

// startGroup starts nodes 1 to count.
func startGroup(ctx context.Context, count int) (*group, error) {
	g := &group{net: memory.New(memory.Options{Seed: 1})}
	for i := range count {
		n := &node{id: failaware.NodeID(i + 1), store: newStore()}
		running, err := failaware.Start(ctx, failaware.Config{ID: n.id, Group: "kv", Transport: g.net.Transport(),
			Broadcast: &failaware.BroadcastConfig{}})
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		if n.Replica, err = replicate.Start(running, n.store, replicate.Config{}); err != nil {
			return nil, errors.Join(err, running.Close(), g.close())
		}
		g.nodes = append(g.nodes, n)
	}
	return g, nil
}

func (g *group) close() error {
	var errs []error
	for _, n := range g.nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// cut cuts all links between a part and the others.
func (g *group) cut(part []*node) {
	var ids []failaware.NodeID
	for _, n := range part {
		ids = append(ids, n.id)
	}
	g.net.Partition(ids)
}

// heal mends all links.
func (g *group) heal() { g.net.Heal() }

// meet waits until each part has an up-to-date view of its own, and one state.
func (g *group) meet(ctx context.Context, parts ...[]*node) error {
	for _, part := range parts {
		for _, n := range part {
			for !n.Read(func() {}).UpToDate || n.Node().View().View.Set.Len() != len(part) {
				select {
				case <-time.After(time.Millisecond):
				case <-ctx.Done():
					return fmt.Errorf("node %v waits for a view of %d: %w", n.id, len(part), context.Cause(ctx))
				case <-n.Done():
					return fmt.Errorf("node %v: %w", n.id, errors.Join(errors.New("stopped"), n.Err(), n.Node().Err()))
				}
			}
		}
	}
	return nil
}
