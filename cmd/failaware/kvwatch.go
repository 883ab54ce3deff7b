package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

func newKVWatchCommand(g *globals) *cobra.Command {
	w := &watcher{g: g, afresh: "reset"}
	var current bool
	cmd := &cobra.Command{
		Use: "watch [PREFIX]", Short: "Print the changes of keys as they happen", Args: cli.Args,
		Long: fmt.Sprintf(`Print the changes of keys that begin with PREFIX, one line or (with -o json or ndjson) one
JSON object each: from now on, after the revision --since, or with --current after the
present keys. When the node does not answer for a while, the command connects again and
continues after the last item that it printed. It ends after --timeout, if that is given.
The exit code is 1 if fewer than --count items have come, and 5 if no node has answered.

The last %d changes are kept. When the state of the node is replaced, as when parts of the
group meet, or the node does not know any more what follows the last item, "reset" is
printed, and the present keys follow. "stale" says that this node may not hear of changes,
and that those which it prints may be undone by a reset; "fresh", that it hears of all again.`, kv.MaxHistory),
		Example: "  failaware kv watch service/ --current -o ndjson",
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.since != "" && w.since != "reset" {
				if _, err := kv.ParsePlace(w.since); err != nil {
					return cli.Wrong("--since: %w", err)
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			w.out, w.err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			query := url.Values{"prefix": {strings.Join(args, "")}, "current": {strconv.FormatBool(current)}}
			err := w.run(ctx, "", func(ctx context.Context, c *api.Client, r *api.Resume, started func(string)) error {
				return c.WatchStore(ctx, query, r, started, w.change)
			})
			if err == nil || err == cli.ErrNo {
				return err
			}
			return kvError(http.MethodGet, err)
		},
	}
	cmd.Flags().StringVar(&w.since, "since", "", "begin after this revision, or the id of an item")
	cmd.Flags().BoolVar(&current, "current", false, "begin with the present keys; with --since, only if that revision is no longer kept")
	cmd.Flags().IntVarP(&w.count, "count", "n", 0, "end after this many items")
	return cmd
}

func (w *watcher) change(k api.KVChange) error {
	if w.g.output.Value != cli.AsTable {
		return w.counted(cli.WriteJSON(w.out, cli.AsNDJSON, k))
	}
	text := quoted(k.Key)
	switch k.Kind {
	case "put", "item":
		b, err := valueOf(k.Value)
		if err != nil {
			return err
		}
		text += " = " + printable(b)
	case "progress":
		return nil
	case "reset", "stale", "fresh":
		text = k.Reason
	}
	_, err := fmt.Fprintf(cli.Text(w.out), "%8d %-8s %s\n", k.Revision, k.Kind, text)
	return w.counted(err)
}
