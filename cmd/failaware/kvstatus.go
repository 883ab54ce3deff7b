package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

func newKVStatusCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show what the node knows about the store", Args: cobra.NoArgs,
		Long: `Show what the node knows about the store. The exit code is 5 if the node takes no commands,
is in no view that is up to date, or a disk, of this node or another, or a member of the
view that acknowledges nothing holds them up.`,
		Example: "  failaware kv status",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a api.KVStatus
			err := g.store(cmd, http.MethodGet, "status", url.Values{}, &a, func(w io.Writer) error { return kvStatusText(w, &a) })
			if err == nil && !takes(&a) {
				return &cli.ExitError{Code: exitUnavailable}
			}
			return err
		},
	}
}

func kvStatusText(w io.Writer, a *api.KVStatus) error {
	where := "in memory"
	if a.Storage != "" {
		where = "in " + a.Storage
	}
	fresh := "not up to date"
	if a.Fresh.UpToDate {
		fresh = fmt.Sprintf("up to date for at most %s", cli.Brief(a.Fresh.AtMostNS))
	}
	if a.Fresh.Behind > 0 {
		fresh = fmt.Sprintf("%d changes wait", a.Fresh.Behind)
	}
	t := cli.NewTable(w)
	t.Row("store", fmt.Sprintf("%s, %s", a.Kind, where))
	t.Row("state", fmt.Sprintf("revision %d, %s; %s", a.Revision, fresh, a.Fresh.Situation))
	t.Row("view", fmt.Sprintf("nodes %v; takes commands: %s", a.Fresh.Members, takesText(a)))
	if a.Disk != "" {
		t.Row("waits for", "its disk: "+a.Disk)
	}
	if heldUp(a) {
		t.Row("waits for", "the disk of "+plural(a.Unstored)+": 'kv status' there says why")
	}
	if a.Lag != "" {
		t.Row("waits for", a.Lag)
	}
	if a.Obstacle != "" {
		t.Row("waits for", "the state: "+a.Obstacle)
	}
	if a.Lossy != "" {
		t.Row("began", a.Lossy)
	}
	if len(a.Absent) > 0 {
		t.Row("waits for", fmt.Sprintf("nodes %v, which may know more", a.Absent))
	}
	t.Row("keys", fmt.Sprintf("%d of %d; %d of %d bytes", a.Keys, a.MaxKeys, a.Bytes, a.MaxBytes))
	t.Row("leases", fmt.Sprintf("%d; %d keys have ended with one", a.Leases, a.Expired))
	t.Row("changes", fmt.Sprintf("kept after revision %d; %d watchers at this node", a.Oldest, a.Watchers))
	if a.Kind == kv.Partitionable.String() {
		t.Row("conflicts", fmt.Sprintf("%d; %d dropped; %d writes gave way to surely later ones", a.Conflicts, a.Forgotten, a.Overtaken))
	}
	return t.Flush()
}

// takes reports whether the node takes commands, and neither a disk nor a member holds them up.
func takes(a *api.KVStatus) bool { return a.Accepting && len(a.Unstored) == 0 && a.Lag == "" }

// heldUp reports whether disks of other nodes hold commands up.
func heldUp(a *api.KVStatus) bool { return len(a.Unstored) > 0 && a.Disk == "" }

func takesText(a *api.KVStatus) string {
	switch {
	case heldUp(a) && a.UnstoredNS > 0:
		return fmt.Sprintf("no, held up by %s for %s", plural(a.Unstored), cli.Brief(a.UnstoredNS))
	case heldUp(a):
		return "no, held up by " + plural(a.Unstored)
	}
	return cli.YesNo(takes(a))
}

// plural names nodes.
func plural(nodes []int) string {
	if len(nodes) == 1 {
		return fmt.Sprintf("node %d", nodes[0])
	}
	return fmt.Sprintf("nodes %v", nodes)
}

func newKVConflictsCommand(g *globals) *cobra.Command {
	var local bool
	cmd := &cobra.Command{
		Use: "conflicts [PREFIX]", Short: "Print the values that lost their key although nothing proves that they are older", Args: cli.Args,
		Long: `Print the conflicts of a partitionable store: when parts of the group met, two writes of
one key did not know of each other, and the clocks do not prove which was the last. One
value was chosen, and the other is kept here until "kv resolve" removes it. The exit code
is 0 if there are conflicts, and 1 if there are none.`,
		Example: "  failaware kv conflicts\n  failaware kv conflicts service/ -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var a api.KVConflicts
			query := url.Values{"prefix": {strings.Join(args, "")}, "local": {strconv.FormatBool(local)}}
			err := g.store(cmd, http.MethodGet, "conflicts", query, &a, func(w io.Writer) error {
				warnStale(cmd, &a.Fresh)
				if a.Forgotten > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "failaware: %d older conflicts were dropped\n", a.Forgotten)
				}
				if err := conflictsText(w, &a); err != nil {
					return err
				}
				if a.More {
					fmt.Fprintln(cmd.ErrOrStderr(), "failaware: there are more: resolve some of these, or name a PREFIX")
				}
				return nil
			})
			return cli.Verdict(err, len(a.Conflicts) > 0)
		},
	}
	cmd.Flags().BoolVar(&local, "local", false, localUsage)
	return cmd
}

func conflictsText(w io.Writer, a *api.KVConflicts) error {
	if len(a.Conflicts) == 0 {
		_, err := fmt.Fprintln(w, "no conflicts")
		return err
	}
	t := cli.NewTable(w)
	t.Row("KEY", "ID", "WRITTEN", "VALUE")
	for i := range a.Conflicts {
		c := &a.Conflicts[i]
		b, err := valueOf(c.Value)
		if err != nil {
			return err
		}
		value, when := printable(b), time.Unix(0, c.TimeNS).UTC().Format(time.RFC3339Nano)+" ±?"
		if c.Deleted {
			value = "(deleted)"
		}
		if c.DeviationNS != nil {
			when = strings.TrimSuffix(when, "?") + cli.BriefUp(*c.DeviationNS)
		}
		t.Row(quoted(c.Key), c.ID, when, value)
	}
	return t.Flush()
}

func newKVResolveCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "resolve KEY ID", Short: "Remove a conflict", Args: cli.Args,
		Long: `Remove a conflict that "kv conflicts" shows. The key keeps the value that it has; to take
the other one, put it first.`,
		Example: "  failaware kv resolve colour 4ecd4828225a473d.12",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkKey(args[0]); err != nil {
				return err
			}
			if _, err := kv.ParseDot(args[1]); err != nil {
				return cli.Wrong("ID: %w", err)
			}
			return askStore(g, cmd, http.MethodPost, "resolve", url.Values{"key": {args[0]}, "id": {args[1]}}, func(w io.Writer, _ *api.KVWrite) error {
				_, err := fmt.Fprintln(w, "resolved")
				return err
			})
		},
	}
}

func newKVBootstrapCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "bootstrap", Short: "Go on without absent nodes that may know more", Args: cobra.NoArgs,
		Long: `Have the nodes of a linearizable store go on with the newest state that one of them has,
although too few of them remember it. It is your word that the absent nodes have no newer
state, or that you accept its loss: writes that were acknowledged may be gone, and an absent
node that comes back gives up what it has. "kv status" names the absent nodes. Starting
them is always better.

The clock of the node dates your word. If you give it a second time, because disks were lost
since, the clock must be ahead of that of the first one; else what follows gives way, when the
absent node comes back.`,
		Example: "  failaware kv bootstrap",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.client()
			if err != nil {
				return err
			}
			var before api.KVStatus
			unknown := g.ask(cmd, c, http.MethodGet, "status", url.Values{}, &before)
			return askStore(g, cmd, http.MethodPost, "bootstrap", url.Values{}, func(w io.Writer, _ *api.Done) error {
				text := "no node waited for others: nothing was changed"
				switch {
				case unknown != nil:
					text = "the nodes do not wait for others"
				case len(before.Absent) > 0:
					text = fmt.Sprintf("the nodes go on without nodes %v", before.Absent)
				}
				_, err := fmt.Fprintln(w, text)
				return err
			})
		},
	}
}
