package main

import (
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
)

// verdict turns an answer that was printed into the exit code.
func verdict(err error, yes bool) error {
	if err == nil && !yes {
		return errNo
	}
	return err
}

func newViewCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "view", Short: "Shows the agreed group; the exit code is 1 if it is not up to date", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var v api.View
			if err := g.ask(cmd.Context(), "/v1/view", &v); err != nil {
				return err
			}
			done, err := writeJSON(cmd.OutOrStdout(), g.output, v)
			if !done {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "view: "+viewText(&v))
			}
			return verdict(err, v.UpToDate)
		},
	}
}

// clockEvery is how often a clock that is watched is shown.
const clockEvery = time.Second

func newClockCommand(g *globals) *cobra.Command {
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "clock", Short: "Shows group time with its proven distance from the group's and from UTC; the exit code is 1 if it is not synchronized",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 {
				return wrong("clock: --every must be above 0")
			}
			show := func() error {
				var c api.Clock
				if err := g.ask(cmd.Context(), "/v1/clock", &c); err != nil {
					return err
				}
				form := g.output
				if watch && form == "json" {
					form = "ndjson"
				}
				done, err := writeJSON(cmd.OutOrStdout(), form, c)
				if !done {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), "clock: "+clockText(&c))
				}
				return verdict(err, c.UpToDate)
			}
			if !watch {
				return show()
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			for {
				if err := show(); err != nil && err != errNo {
					if ctx.Err() != nil {
						return nil
					}
					return err
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(every):
				}
			}
		},
	}
	cmd.AddCommand(newSourcesCommand(g))
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again and again")
	cmd.Flags().DurationVar(&every, "every", clockEvery, "with --watch: how often")
	return cmd
}
