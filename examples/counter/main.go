// Command counter counts in every part of a split group, and loses nothing when the
// parts meet. See README.md.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := play(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "counter:", err)
		os.Exit(1)
	}
}

// group is five counters on a network in memory, which can be split.
type group struct {
	ctx   context.Context
	net   *memory.Network
	nodes []*failaware.Node
	all   []*replicate.Replica
	state []counter
	entry []string  // of each node's process, named at random
	added [5]uint64 // by each node's process
}

func start(ctx context.Context, net *memory.Network) (*group, error) {
	g := &group{ctx: ctx, net: net}
	for id := failaware.NodeID(1); id <= 5; id++ {
		n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: g.net.Transport(), Timing: failaware.WAN(),
			Broadcast: &failaware.BroadcastConfig{}})
		if err != nil {
			return g, err
		}
		c := counter{}
		r, err := replicate.Start(n, c, replicate.Config{})
		if err != nil {
			return g, errors.Join(err, n.Close())
		}
		g.nodes, g.all, g.state, g.entry = append(g.nodes, n), append(g.all, r), append(g.state, c), append(g.entry, rand.Text())
	}
	return g, nil
}

// add adds to the counter at one node.
func (g *group) add(node int, by uint64) error {
	g.added[node-1] += by
	_, err := g.all[node-1].Submit(g.ctx, command(g.entry[node-1], g.added[node-1]))
	return err
}

// until waits until all of the nodes read a sum in an up-to-date view.
func (g *group) until(out io.Writer, sum uint64, nodes ...int) error {
	for _, node := range nodes {
		for {
			var have uint64
			fresh := g.all[node-1].Read(func() { have = g.state[node-1].sum() })
			if fresh.UpToDate && have == sum {
				fmt.Fprintf(out, "  node %d counts %d\n", node, sum)
				break
			}
			select {
			case <-time.After(10 * time.Millisecond):
			case <-g.ctx.Done():
				return fmt.Errorf("node %d counts %d instead of %d: %w", node, have, sum, g.ctx.Err())
			}
		}
	}
	return nil
}

func (g *group) close() {
	for _, r := range g.all {
		r.Close()
	}
}

// play is the story: whole, split, and whole again.
func play(ctx context.Context, out io.Writer) error {
	g, err := start(ctx, memory.New(memory.Options{Seed: 1}))
	defer g.close()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "together: node 1 adds 10")
	err = errors.Join(g.add(1, 10), g.until(out, 10, 1, 2, 3, 4, 5))
	g.net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
	fmt.Fprintln(out, "split into {1 2 3} and {4 5}: node 1 adds 1, node 2 adds 2, node 5 adds 4")
	err = errors.Join(err, g.apart(3), g.add(1, 1), g.add(2, 2), g.add(5, 4), g.until(out, 13, 1, 2, 3), g.until(out, 14, 4, 5))
	g.net.Heal()
	fmt.Fprintln(out, "healed: nothing is lost, and nothing counted twice")
	return errors.Join(err, g.until(out, 17, 1, 2, 3, 4, 5))
}

// apart waits until both parts have views of their own, of which the first has some size.
func (g *group) apart(size int) error {
	for {
		a, b := g.nodes[0].View(), g.nodes[4].View()
		if a.UpToDate && b.UpToDate && a.View.Set.Len() == size && b.View.Set.Len() == len(g.nodes)-size {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-g.ctx.Done():
			return g.ctx.Err()
		}
	}
}
