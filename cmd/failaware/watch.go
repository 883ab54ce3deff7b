package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newWatchCommand(g *globals) *cobra.Command {
	w := &watcher{g: g, restart: "; its events start again"}
	cmd := &cobra.Command{
		Use:   "watch [" + strings.Join(api.Topics(), "|") + "]",
		Short: "Print events as they happen, one line each",
		Long: `Print events as they happen, one line or (with -o json or ndjson) one JSON object each.
When the node is restarted or does not answer for a while, the command connects again
and continues after the last event that it printed. It ends after --timeout, if that is
given. The exit code is 1 if fewer than --count events have come, or no node has answered.`,
		Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			topic := "all"
			if len(args) == 1 {
				topic = args[0]
			}
			if !slices.Contains(api.Topics(), topic) {
				return cli.SeeHelp(cmd, fmt.Errorf("watch: %q is none of %s", topic, strings.Join(api.Topics(), ", ")))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			w.out, w.err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return w.run(ctx, topic, func(ctx context.Context, c *api.Client, r *api.Resume, started func(string)) error {
				return c.Events(ctx, r, started, w.print)
			})
		},
	}
	cmd.Flags().StringVar(&w.since, "since", "", "begin after the event of this id; 0 begins with the oldest that is kept")
	cmd.Flags().IntVarP(&w.count, "count", "n", 0, "end after this many events")
	return cmd
}

// watcher prints a stream of events.
type watcher struct {
	g        *globals
	since    string
	count    int
	afresh   string // the id to continue with if the node has dropped the events after the last one
	restart  string // the warning about the restart of a node
	out, err io.Writer
	printed  int
}

var errEnough = errors.New("enough events")

// reconnectEvery is the interval between attempts to reach a silent node.
const reconnectEvery = 500 * time.Millisecond

// run calls follow, and again after each lost connection.
func (w *watcher) run(ctx context.Context, topic string,
	follow func(context.Context, *api.Client, *api.Resume, func(string)) error) error {
	c, err := w.g.client()
	if err != nil {
		return err
	}
	if w.g.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.g.timeout)
		defer cancel()
	}
	resume := &api.Resume{Topic: topic, Last: w.since, Begin: cmp.Or(w.g.timeout, defaultTimeout)}
	run, lost := "", false
	started := func(now string) {
		switch {
		case run != "" && now != run:
			fmt.Fprintln(w.err, "failaware: the node was restarted"+w.restart)
		case lost:
			fmt.Fprintln(w.err, "failaware: connected again")
		}
		run, lost, resume.Begin = now, false, defaultTimeout
	}
	for {
		err := follow(ctx, c, resume, started)
		switch {
		case errors.Is(err, errEnough), errors.Is(err, api.ErrEnd):
			return nil
		case isCutOff(err):
			return err
		case run == "" && !errors.Is(ctx.Err(), context.Canceled): // no stream has begun
			return inWords(err, "since", "--since")
		case ctx.Err() != nil: // by --timeout or a signal
			return cli.Verdict(nil, run != "" && w.count == 0) // otherwise there are fewer than requested
		}
		if answered, ok := errors.AsType[*api.StatusError](err); ok {
			switch {
			case answered.Code == http.StatusGone && w.afresh != "" && resume.Last != w.afresh:
				fmt.Fprintf(w.err, "failaware: the node does not know any more what follows %s; the present keys follow\n", resume.Last)
				resume.Last = w.afresh
				continue
			case answered.Code != http.StatusServiceUnavailable: // the node may be ending, or beginning
				return err
			}
		} else if !unreached(err) {
			return err
		}
		if !lost {
			fmt.Fprintf(cli.Text(w.err), "failaware: %v; trying again\n", err)
			lost = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectEvery):
		}
	}
}

func isCutOff(err error) bool {
	_, is := errors.AsType[*api.CutOffError](err)
	return is
}

func (w *watcher) print(e api.Event) error {
	var err error
	if w.g.output.Value == cli.AsTable {
		_, err = fmt.Fprintf(cli.Text(w.out), "%s %-14s %s\n", e.Time.Local().Format("15:04:05.000000"), e.Kind, inFlags(e.Text))
	} else {
		err = cli.WriteJSON(w.out, cli.AsNDJSON, e)
	}
	return w.counted(err)
}

// counted counts a printed item.
func (w *watcher) counted(err error) error {
	if err != nil {
		return err
	}
	if w.printed++; w.printed == w.count {
		return errEnough
	}
	return nil
}
