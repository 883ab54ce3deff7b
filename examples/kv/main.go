// Command kv is a key-value store that continues in every part of a split group, and
// is one again when the parts meet. It runs five nodes in one process, on a network in
// memory that can be split. A script splits them, writes on both sides, and heals the
// network. At the end all nodes must have the same keys and values, with the writes of
// both sides. Otherwise it exits with 1.
//
//	go run ./examples/kv
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// patience is the time limit of the whole script: some hundred times its duration on an
// idle machine.
const patience = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := play(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kv:", err)
		os.Exit(1)
	}
}

// play is the script.
func play(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g, err := startGroup(ctx, 5)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	all, left, right := g.nodes, g.nodes[:3], g.nodes[3:]
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	put := func(n *node, key, value string) {
		if err != nil {
			return
		}
		var version any
		if version, err = n.put(ctx, key, value); err == nil {
			say("  node %v puts %s=%s, version %v", n.id, key, value, version)
		}
	}
	show := func(want string, ns ...*node) {
		for _, n := range ns {
			if err == nil {
				err = n.expect(ctx, want, out)
			}
		}
	}
	meet := func(what string, parts ...[]*node) {
		if err != nil {
			return
		}
		if err = g.meet(ctx, parts...); err == nil {
			say("%s", what)
		}
	}

	meet("one view of all five", all)
	put(all[0], "colour", "blue")
	show("colour=blue", all...)

	g.cut(left)
	meet("split: {1 2 3} and {4 5} each have a view of their own", left, right)
	put(left[0], "colour", "red")
	put(left[1], "left", "1")
	put(right[0], "colour", "green")
	put(right[1], "colour", "yellow")
	put(right[0], "right", "2")
	show("colour=red left=1", left...)
	show("colour=yellow right=2", right...)

	g.heal()
	meet("healed: one view again, and one state", all)
	show("colour=yellow left=1 right=2", all...)
	put(all[4], "again", "one")
	show("again=one colour=yellow left=1 right=2", all...)
	if err == nil {
		say("all five are equal, and hold the writes of both sides")
	}
	return err
}
