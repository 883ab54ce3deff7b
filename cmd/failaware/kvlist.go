package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

// listFlags are the flags of the command list.
type listFlags struct {
	local, all bool
	limit      int
	after      string
}

func newKVListCommand(g *globals) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "list [PREFIX]", Short: "Print the keys that begin with a prefix", Args: cli.Args,
		Long: `Print the keys that begin with PREFIX, in their order, with versions and values. One
page has at most --limit keys and 2 MiB; the command then says how to go on. With --all it
goes on by itself; if keys are written meanwhile, each page has its own revision.`,
		Example: "  failaware kv list service/\n  failaware kv list service/ --limit 100 --after service/web\n  failaware kv list --all -o json >backup.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.limit < 1 || f.limit > kv.MaxList:
				return cli.Wrong("--limit: it is from 1 to %d", kv.MaxList)
			case f.all && cmd.Flags().Changed("limit"):
				return cli.Wrong("--all prints every page: without --limit")
			}
			return f.run(g, cmd, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVar(&f.local, "local", false, localUsage)
	cmd.Flags().BoolVar(&f.all, "all", false, "print all pages")
	cmd.Flags().IntVar(&f.limit, "limit", kv.MaxList, "the most keys to print")
	cmd.Flags().StringVar(&f.after, "after", "", "begin after this key")
	return cmd
}

// run prints a page, or all of them.
func (f *listFlags) run(g *globals, cmd *cobra.Command, prefix string) error {
	c, err := g.client()
	if err != nil {
		return err
	}
	var a api.KVList
	for first, more := uint64(0), true; more; more = f.all && a.More {
		var page api.KVList
		query := url.Values{"limit": {strconv.Itoa(f.limit)}, "after": {f.after}, "local": {strconv.FormatBool(f.local)}, "prefix": {prefix}}
		if err := g.ask(cmd, c, http.MethodGet, "list", query, &page); err != nil {
			return kvError(http.MethodGet, err)
		}
		if a.Items == nil {
			first = page.Revision
		} else {
			page.Items = append(a.Items, page.Items...)
		}
		if a = page; len(a.Items) > 0 {
			f.after = a.Items[len(a.Items)-1].Key
		}
		if !a.More && a.Revision != first {
			fmt.Fprintf(cmd.ErrOrStderr(), "failaware: the store has changed meanwhile, from revision %d to %d: each key is as it was at some time between\n", first, a.Revision)
		}
	}
	return cli.Print(cmd, a, func(w io.Writer) error { return listText(cmd, w, &a) })
}

func listText(cmd *cobra.Command, w io.Writer, a *api.KVList) error {
	warnStale(cmd, &a.Fresh)
	t := cli.NewTable(w)
	t.Row("KEY", "VERSION", "VALUE")
	for i := range a.Items {
		b, err := valueOf(a.Items[i].Value)
		if err != nil {
			return err
		}
		t.Row(quoted(a.Items[i].Key), a.Items[i].Version, printable(b))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if a.More && len(a.Items) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "failaware: there are more: --all, or --after %q\n", a.Items[len(a.Items)-1].Key)
	}
	return nil
}
