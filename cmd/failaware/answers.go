package main

import (
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
)

func newViewCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "view", Short: "Show the agreed group; the exit code is 1 if it is not up to date", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := show(g, cmd, "/v1/view", line("view: ", viewText))
			return cli.Verdict(err, v.UpToDate)
		},
	}
}

// clockEvery is the default interval of clock --watch.
const clockEvery = time.Second

func newClockCommand(g *globals) *cobra.Command {
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "clock", Short: "Show group time with its proven distance from the group's and from UTC; the exit code is 1 if it is not synchronized",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 {
				return cli.Wrong("clock: --every must be above 0")
			}
			if cmd.Flags().Changed("every") && !watch {
				return cli.Wrong("clock: --every needs --watch")
			}
			once := func() error {
				c, err := show(g, cmd, "/v1/clock", line("clock: ", clockText))
				return cli.Verdict(err, c.UpToDate)
			}
			if !watch {
				return once()
			}
			if g.output.Value == cli.AsJSON { // a stream has one line for each answer
				_ = g.output.Set(string(cli.AsNDJSON))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			for {
				if err := once(); err != nil && err != cli.ErrNo {
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
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it repeatedly")
	cmd.Flags().DurationVar(&every, "every", clockEvery, "with --watch: how often")
	return cmd
}
