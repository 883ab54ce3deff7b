package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// mostInput is the largest payload of any node, in bytes.
const mostInput = 64 << 20

func newBroadcastCommand(g *globals) *cobra.Command {
	order := cli.NewValue(api.Orders[0], strings.Join(api.Orders, "|"), cli.OneOf(cli.Names(api.Orders...)...))
	atomicity := cli.NewValue(api.Atomicities[0], strings.Join(api.Atomicities, "|"), cli.OneOf(cli.Names(api.Atomicities...)...))
	var wait bool
	cmd := &cobra.Command{
		Use:   "broadcast TEXT|-",
		Short: "Send a message to the members of the view",
		Long: `Send a message to the members of the view and print its id. The message is TEXT, or
the standard input if that is "-". With --wait the command returns when the node has
delivered the message; with --atomicity strict every member then has it. The node must
run with --broadcast or --kv. Beside a store, total and timed messages are in one order with
its commands, and change nothing in it. Exit code 6 means that the message may have been
sent, or may yet be delivered.`,
		Example: "  failaware broadcast --atomicity strict --wait hello",
		Args:    cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			payload, err := inputValue(cmd, args[0], mostInput)
			if err != nil {
				return err
			}
			options := url.Values{"order": {order.Value}, "atomicity": {atomicity.Value}, "wait": {strconv.FormatBool(wait)}}
			return g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
				s, err := c.Broadcast(ctx, payload, options)
				if err != nil {
					return unsettled(err)
				}
				return cli.PrintLine(cmd, s, sentText(&s))
			})
		},
	}
	cmd.Flags().Var(order, "order", "in which order members deliver the message")
	cmd.Flags().Var(atomicity, "atomicity", "which members deliver it if some fail")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the node has delivered the message")
	return cmd
}

// unsettled returns the error of a broadcast, with the exit code of an unknown outcome unless the
// node says that the message was not sent.
func unsettled(err error) error {
	answer, answered := errors.AsType[*api.StatusError](err)
	switch {
	case mayHaveArrived(err):
		err = fmt.Errorf("%w; the message may have been sent, and may yet be delivered", err)
	case !answered || answer.Code != http.StatusGatewayTimeout:
		return err
	}
	return &cli.ExitError{Code: exitUnknown, Err: err}
}

// sentText describes the outcome of a broadcast.
func sentText(s *api.Sent) string {
	if !s.Delivered {
		return s.ID
	}
	text := fmt.Sprintf("%s delivered in view %s", s.ID, s.View)
	if s.Position > 0 {
		text += fmt.Sprintf(" at position %d", s.Position)
	}
	if s.Transitional {
		text += ", by the members that move on to the next view"
	}
	return text
}

func newDeliveriesCommand(g *globals) *cobra.Command {
	w := &watcher{g: g, restart: "; its deliveries start again"}
	var follow bool
	cmd := &cobra.Command{
		Use:   "deliveries",
		Short: "Print the messages that the node delivers, and its views, in their order",
		Long: `Print the messages that the node delivers, its views, and the other items in their
order, as far as the node keeps them. With --follow, print future items instead; when
the node is restarted or does not answer for a while, the command connects again and
continues after the last item that it printed, until --timeout ends, if that is given. The
exit code is 1 if fewer than --count future items have come, a list is cut off, or no node
has answered. The node must run with --broadcast or --kv. A node with --kv shows messages
without their views, no views, and its commands only with --kv-trace.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			w.out, w.err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if !follow && w.since == "" {
				w.since = "0"
			}
			return w.run(ctx, "", func(ctx context.Context, c *api.Client, r *api.Resume, started func(string)) error {
				return c.Deliveries(ctx, r, follow, started, w.delivery)
			})
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print future items instead of past ones")
	cmd.Flags().StringVar(&w.since, "since", "", "begin after the item of this id; 0 begins with the oldest that is kept")
	cmd.Flags().IntVarP(&w.count, "count", "n", 0, "end after so many items")
	return cmd
}

func (w *watcher) delivery(d api.Delivery) error {
	if w.g.output.Value != cli.AsTable {
		return w.counted(cli.WriteJSON(w.out, cli.AsNDJSON, d))
	}
	text, err := deliveryText(&d)
	if err == nil {
		_, err = fmt.Fprintf(cli.Text(w.out), "%-14s %s\n", d.Kind, text)
	}
	return w.counted(err)
}

// deliveryText describes an item in one line.
func deliveryText(d *api.Delivery) (string, error) {
	switch d.Kind {
	case "message":
		payload, err := base64.StdEncoding.DecodeString(d.Payload)
		if err != nil {
			return "", errors.New("the payload that the node sent is not base64")
		}
		text := fmt.Sprintf("%s from node %d: ", time.Unix(0, d.StampNS).Format("15:04:05.000000"), d.Sender)
		return text + quoted(payload), nil
	case "operation":
		at := func(ns int64) string { return time.Unix(0, ns).Format("05.000000") }
		return fmt.Sprintf("%s from node %d: submitted %s, sent %s, ordered here %s, applied here %s", d.Message, d.Sender,
			at(d.SubmittedNS), at(d.StampNS), at(d.OrderedNS), at(d.AppliedNS)), nil
	case "transition":
		return fmt.Sprintf("to view %s, together with %v", d.NextView, d.Along), nil
	case "view":
		return fmt.Sprintf("%s: members %v", d.View, memberIDs(d.Members)), nil
	case "outcome-lost":
		return fmt.Sprintf("own messages through %s, from number %d on, were ordered in another branch", d.Message, d.From), nil
	case "new-incarnation":
		return fmt.Sprintf("boot id %s: %s", d.Boot, d.Reason), nil
	case "missed":
		return fmt.Sprintf("%d items are not kept any more", d.Count), nil
	}
	return "", nil
}
