package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

const (
	waitTimeout = 10 * time.Second
	// waitEvery is the interval of requests. Events do not suffice: the deviation of a
	// clock, for example, falls without one.
	waitEvery = 10 * time.Millisecond
)

// waiting are the options of `failaware wait`.
type waiting struct {
	bound    time.Duration
	external bool
	global   bool
	members  int
}

func newWaitCommand(g *globals) *cobra.Command {
	o := &waiting{}
	cmd := &cobra.Command{
		Use:   "wait synced|leader|view|store",
		Short: "Wait until the clock is synchronized, a leader is known, the view is up to date, or the store takes commands",
		Long: `Wait until a condition holds, even if the node has yet to start:

  synced  the clock is synchronized, to --bound if given; with --external to UTC
  leader  a leader is known, and the knowledge is up to date; with --global, the node leads
          globally, or has heard who does
  view    the view is up to date and has at least --members members
  store   the node's key-value store takes commands

The exit code is 1 if it does not hold within --timeout (10s), and 2 if it can
never hold. With -o json, the last answer is printed also if it is no.`,
		Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask, err := o.condition(cmd, args[0])
			if err != nil {
				return err
			}
			return o.run(cmd, g, args[0], ask)
		},
	}
	cmd.Flags().DurationVar(&o.bound, "bound", 0, "synced: the largest deviation (default: the node's max_deviation)")
	cmd.Flags().BoolVar(&o.external, "external", false, "synced: to UTC; --bound is then for the distance from UTC (default: the node's max_utc_error)")
	cmd.Flags().BoolVar(&o.global, "global", false, "leader: the leader with the votes of a quorum")
	cmd.Flags().IntVar(&o.members, "members", 1, "view: the least number of members")
	return cmd
}

// question asks once and returns the answer and whether the condition holds.
type question func(ctx context.Context, c *api.Client) (answer any, text string, holds bool, err error)

// condition returns the question for a condition, or an error if it can never hold.
func (o *waiting) condition(cmd *cobra.Command, what string) (question, error) {
	bounded, counted := cmd.Flags().Changed("bound"), cmd.Flags().Changed("members")
	switch {
	case !slices.Contains([]string{"synced", "leader", "view", "store"}, what):
		return nil, cli.SeeHelp(cmd, fmt.Errorf("wait: %q is none of synced, leader, view, store", what))
	case bounded && what != "synced":
		return nil, cli.Wrong("wait %s: --bound is for synced only", what)
	case o.external && what != "synced":
		return nil, cli.Wrong("wait %s: --external is for synced only", what)
	case o.global && what != "leader":
		return nil, cli.Wrong("wait %s: --global is for leader only", what)
	case counted && what != "view":
		return nil, cli.Wrong("wait %s: --members is for view only", what)
	case bounded && o.bound <= 0:
		return nil, cli.Wrong("wait synced: no clock ever has a deviation of at most %v: --bound must be above 0", o.bound)
	case o.members < 1 || o.members > 255:
		return nil, cli.Wrong("wait view: no view ever has %d members: --members must be from 1 to 255", o.members)
	}
	switch what {
	case "synced":
		return asks("clock", "/v1/clock", clockText, func(a *api.Clock) bool {
			switch {
			case o.external && bounded:
				return a.UTCBoundNS != nil && *a.UTCBoundNS <= int64(o.bound)
			case o.external:
				return a.Status == clocksync.External.String()
			case bounded:
				return a.DeviationNS != nil && *a.DeviationNS <= int64(o.bound)
			}
			return a.UpToDate
		}), nil
	case "leader":
		if o.global {
			return askGlobal, nil
		}
		return asks("leader", "/v1/leader", leaderText, func(a *api.Leader) bool { return a.UpToDate }), nil
	case "store":
		return asks("store", "/v1/kv/status", storeText, takes), nil
	}
	return asks("view", "/v1/view", viewText, func(a *api.View) bool { return a.UpToDate && len(a.Members) >= o.members }), nil
}

// asks returns the question for a part of the node's state.
func asks[T any](part, path string, text func(*T) string, holds func(*T) bool) question {
	return func(ctx context.Context, c *api.Client) (any, string, bool, error) {
		var a T
		err := c.Get(ctx, path, &a)
		return a, part + ": " + text(&a), holds(&a), err
	}
}

// askGlobal is the question for the global leader, which a node without a quorum system never
// hears of. One that is to learn it from others has none at first.
func askGlobal(ctx context.Context, c *api.Client) (any, string, bool, error) {
	var a api.Global
	err := c.Get(ctx, "/v1/global", &a)
	var e api.Epoch
	if err == nil && a.Quorum == "" && c.Get(ctx, "/v1/epoch", &e) == nil && e.Static {
		err = cli.Wrong("wait leader: --global: the node has no quorum system")
	}
	return a, "global leader: " + globalText(&a), a.Leader != 0, err
}

// storeText says whether the store takes commands.
func storeText(a *api.KVStatus) string {
	text := "takes commands: " + takesText(a)
	if !takes(a) {
		text += "; 'failaware kv status' says why"
	}
	return text
}

// never returns the error of a node that does not answer a question. One that runs without what
// it is about never will.
func never(what string, err error) error {
	if e, ok := errors.AsType[*api.StatusError](err); ok && e.Code == http.StatusNotImplemented {
		return cli.Wrong("wait %s: %w", what, err)
	}
	return err
}

func (o *waiting) run(cmd *cobra.Command, g *globals, what string, ask question) error {
	c, err := g.client()
	if err != nil {
		return err
	}
	ctx, cancel := g.within(cmd.Context(), waitTimeout)
	defer cancel()
	last, answered := "no answer yet", any(nil)
	for {
		answer, text, holds, err := ask(ctx, c)
		switch {
		case err == nil && holds:
			return cli.PrintLine(cmd, answer, text)
		case err == nil:
			last, answered = text, answer
		case unreached(err) && ctx.Err() == nil:
			last = err.Error()
		case ctx.Err() == nil:
			return never(what, err)
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return withJSON(cmd, answered, cli.No(fmt.Errorf("wait %s: not in time; %s", what, last)))
		case <-time.After(waitEvery):
		}
	}
}

// withJSON prints v, unless it is nil, where the output is JSON, and returns err.
func withJSON(cmd *cobra.Command, v any, err error) error {
	if v == nil || cli.FormatOf(cmd) == cli.AsTable {
		return err
	}
	return errors.Join(err, cli.Print(cmd, v, nil))
}
