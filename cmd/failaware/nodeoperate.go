package main

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/metrics"
)

// operate gives the API what operators need: metrics, the level of the log and, if it is
// turned on, profiles.
func (r *nodeRun) operate(ctx context.Context) {
	from := metrics.Sources{Version: r.server.Version, Kinds: api.Kinds(), Refused: r.server.Refused}
	if r.cfg.Broadcast != nil {
		from.Traffic = func() metrics.Traffic { return metrics.Traffic(r.server.Traffic()) }
	}
	if r.store != nil {
		from.Store = func() metrics.Store { return metrics.Store(r.store.Counts()) }
	}
	if len(r.cfg.handlers) > 0 {
		from.Handlers = func() metrics.Handlers { return metrics.Handlers(r.handlers.Counts()) }
	}
	r.server.Metrics = metrics.New(context.WithoutCancel(ctx), r.node, from).Handler()
	r.server.SetLevel = func(level string) { r.log.SetLevel(hclog.LevelFromString(level)) }
	if r.cfg.pprof {
		r.server.Debug = profiles()
	}
}

func newLogLevelCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "log-level LEVEL", Short: "Change the level of the node's log while it runs", Args: cli.Args,
		Long:      "Change the level of the node's log while it runs, to trace, debug, info, warn, error or off.",
		Example:   "  failaware log-level debug",
		ValidArgs: api.Levels,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(api.Levels, args[0]) {
				return cli.Wrong("%q is none of %s", args[0], strings.Join(api.Levels, ", "))
			}
			return g.order(cmd, "/v1/log-level?level="+args[0], defaultTimeout, "the level of the log is "+args[0])
		},
	}
}
