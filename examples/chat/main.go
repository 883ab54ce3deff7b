// Command chat is a chat in which all users see the same lines in the same order. Start it three times, in three terminals:
//
//	go run ./examples/chat 1    go run ./examples/chat 2    go run ./examples/chat 3
//
// and write. Stop one: the others see the view without it, and continue.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/failaware/failaware"
)

func main() {
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run() error {
	var id failaware.NodeID
	if len(os.Args) == 2 {
		fmt.Sscan(os.Args[1], &id)
	}
	if id < 1 || id > 3 {
		return errors.New("the argument is the id of this node: 1, 2 or 3")
	}
	cfg := failaware.Config{ID: id, Group: "chat", Broadcast: &failaware.BroadcastConfig{}}
	for p := failaware.NodeID(1); p <= 3; p++ {
		addr := fmt.Sprintf("127.0.0.1:%d", 7110+int(p))
		if p == id {
			cfg.Listen = addr
		} else {
			cfg.Peers = append(cfg.Peers, failaware.Peer{ID: p, Addr: addr})
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	n, err := failaware.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer n.Close()
	return chat(ctx, n, os.Stdin, os.Stdout)
}

// chat sends each line of in, and writes what all members send.
func chat(ctx context.Context, n *failaware.Node, in io.Reader, out io.Writer) error {
	go func() {
		if err := send(ctx, n, in); err != nil {
			fmt.Fprintln(os.Stderr, "chat: no more lines are sent:", err)
		}
	}()
	for d, err := range n.Deliveries(ctx) {
		if err != nil {
			return err
		}
		show(out, &d)
	}
	return nil
}

// longest is the longest line that is read. The node refuses one that is too long to send.
const longest = 1 << 20

// send sends each line of in.
func send(ctx context.Context, n *failaware.Node, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if _, err := n.Broadcast(ctx, lines.Bytes(), failaware.BroadcastOptions{}); err != nil {
			fmt.Fprintln(os.Stderr, "chat: not sent:", err)
		}
	}
	return lines.Err()
}

// show writes an item of the deliveries. Lines do not vanish without a word.
func show(out io.Writer, d *failaware.Delivery) {
	switch c := d.Change.(type) {
	case nil: // a message
		fmt.Fprintf(out, "%v: %s\n", d.ID.Sender, d.Payload)
	case failaware.ViewChange:
		fmt.Fprintf(out, "-- here are %v\n", d.View.Set)
	case failaware.OutcomeLost:
		fmt.Fprintf(out, "-- %d of your lines may be missing: %v\n", c.Through.Sequence-c.From.Sequence+1, c)
	case failaware.NewIncarnation:
		fmt.Fprintf(out, "-- your last lines may be missing: %v\n", c)
	}
}
