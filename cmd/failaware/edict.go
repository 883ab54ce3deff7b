package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/edict/fence"
)

func newEdictCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "edict", Short: "Show, create and order edicts, the numbered decisions of leaders", Args: cobra.NoArgs,
		RunE: cli.Help,
	}
	cmd.AddCommand(newEdictShowCommand(), newEdictCreateCommand(g), newEdictVerifyCommand(g))
	return cmd
}

// shownEdict is an edict as printed.
type shownEdict struct {
	Epoch   uint64       `json:"epoch"`
	Counter uint64       `json:"counter"`
	Digest  string       `json:"digest"`
	Stamps  []shownStamp `json:"stamps"`
}

type shownStamp struct {
	Node    int    `json:"node"`
	Counter uint64 `json:"counter"`
	Boot    string `json:"boot"`
	AtNS    int64  `json:"at_ns"`
}

func showEdict(e *edict.Edict) shownEdict {
	s := shownEdict{Epoch: e.Epoch, Counter: e.Counter, Digest: hex.EncodeToString(e.Digest[:])}
	for _, t := range e.Stamps {
		s.Stamps = append(s.Stamps, shownStamp{int(t.Node), t.Counter, t.Boot.String(), int64(t.At)})
	}
	return s
}

func newEdictShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show EDICT",
		Short: "Print the content of an edict",
		Args:  cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEdict(args[0])
			if err != nil {
				return err
			}
			s := showEdict(&e)
			return cli.Print(cmd, s, s.write)
		},
	}
}

// write writes the edict as two tables.
func (s *shownEdict) write(w io.Writer) error {
	t := cli.NewTable(w)
	t.Row("epoch", s.Epoch)
	t.Row("counter", s.Counter)
	t.Row("payload", "sha256:"+s.Digest)
	if err := t.Flush(); err != nil {
		return err
	}
	t = cli.NewTable(w)
	t.Row("VOTER", "INCARNATION", "BOOT", "CLOCK")
	for _, v := range s.Stamps {
		count := fmt.Sprint(v.Counter)
		if v.Counter == 0 {
			count = "uncounted"
		}
		t.Row(v.Node, count, v.Boot, time.Duration(v.AtNS))
	}
	return t.Flush()
}

func newEdictCreateCommand(g *globals) *cobra.Command {
	var payload string
	cmd := &cobra.Command{
		Use: "create", Short: "Have the node, which must lead globally, create an edict for a payload", Args: cobra.NoArgs,
		Long: `Have the node create an edict for the SHA-256 of a file, and print the edict. The exit
code is 1 if the node does not lead globally.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := readPayload(cmd.InOrStdin(), payload)
			if err != nil {
				return cli.Wrong("--payload: %w", err)
			}
			digest := edict.Sum(b)
			return g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
				e, err := c.Edict(ctx, hex.EncodeToString(digest[:]))
				if err != nil {
					return err
				}
				return cli.PrintLine(cmd, e, e.Edict)
			})
		},
	}
	cmd.Flags().StringVar(&payload, "payload", "-", "the file that the edict is for ('-': standard input)")
	return cmd
}

func newEdictVerifyCommand(g *globals) *cobra.Command {
	var state, name, payload string
	cmd := &cobra.Command{
		Use:   "verify EDICT [EDICT]",
		Short: "Order two edicts, or pass one through a fence",
		Long: `With two edicts: print the order of the first relative to the second: before, after,
same or incomparable.

With one: pass it through the fence in the file --state, for the resource --name. The
fence accepts or refuses it. An accepted edict is in the file before the command returns,
and the fence refuses older edicts for that name from then on. The command creates the
file if it does not exist. One that held an edict and is gone, beside its ".lock", is damaged.

Exit codes: 0 ordered or accepted; 1 incomparable or refused, or the file is in use for
longer than --timeout; 2 wrong usage, or the file is damaged or cannot be written.`,
		Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []edict.Edict
			for _, a := range args {
				e, err := parseEdict(a)
				if err != nil {
					return err
				}
				all = append(all, e)
			}
			switch {
			case len(all) == 2 && (state != "" || name != "" || payload != ""):
				return cli.Wrong("--state, --name and --payload are for one edict")
			case len(all) == 2:
				return orderEdicts(cmd, &all[0], &all[1])
			case state == "":
				return cli.Wrong("--state is needed with one edict, or a second edict")
			case name == "":
				return cli.Wrong("--name is needed with --state")
			}
			digest := all[0].Digest
			if payload != "" {
				b, err := readPayload(cmd.InOrStdin(), payload)
				if err != nil {
					return cli.Wrong("--payload: %w", err)
				}
				digest = edict.Sum(b)
			}
			return g.passFence(cmd, state, name, &all[0], digest)
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "the file of the fence")
	f.StringVar(&name, "name", "", "the resource that the edict is for")
	f.StringVar(&payload, "payload", "", "file with the payload that the edict must be for ('-': standard input)")
	return cmd
}

func parseEdict(s string) (edict.Edict, error) {
	e, err := edict.Parse(s)
	if err != nil {
		return e, cli.Wrong("%.20q: %w", s, err)
	}
	return e, nil
}

func readPayload(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

// orderEdicts prints the order of two edicts.
func orderEdicts(cmd *cobra.Command, a, b *edict.Edict) error {
	r := edict.Relate(a, b)
	err := cli.PrintLine(cmd, struct {
		Order  string `json:"order"`
		Reason string `json:"reason,omitempty"`
	}{r.Order.String(), reasonOf(r)}, r.String())
	return cli.Verdict(err, r.Order != edict.Incomparable)
}

// reasonOf returns why two edicts do not compare.
func reasonOf(r edict.Relation) string {
	if r.Order != edict.Incomparable {
		return ""
	}
	return r.Reason.String()
}

// passFence prints whether the fence accepts an edict.
func (g *globals) passFence(cmd *cobra.Command, state, name string, e *edict.Edict, payload edict.Digest) error {
	ctx, cancel := g.within(cmd.Context(), defaultTimeout)
	defer cancel()
	f, err := openFence(ctx, state)
	if err != nil {
		return err
	}
	defer f.Close()
	verdict, err := f.Do(name, e, payload, func(edict.Verdict) error { return nil })
	answer := struct {
		Verdict string `json:"verdict"`
		Reason  string `json:"reason,omitempty"`
		Order   string `json:"order,omitempty"` // to the edict that passed last
	}{Verdict: map[edict.Verdict]string{edict.Obey: "accepted", edict.Repeated: "repeated", edict.Refused: "refused"}[verdict]}
	if err != nil {
		answer.Reason = err.Error()
		refused, ok := errors.AsType[*edict.RefusedError](err)
		switch {
		case ok:
			answer.Order = refused.Relation.Order.String()
		case errors.Is(err, edict.ErrName):
			return cli.WrongUsage(err)
		case !errors.Is(err, edict.ErrPayload):
			return cli.Wrong("--state: %w", err) // of the disk: nothing was decided
		}
	}
	text := answer.Verdict
	if answer.Reason != "" {
		text += ": " + answer.Reason
	}
	return cli.Verdict(cli.PrintLine(cmd, answer, text), err == nil)
}

// openFence opens a fence. It waits while another process holds the fence.
func openFence(ctx context.Context, path string) (*fence.Fence, error) {
	const pause = 5 * time.Millisecond
	for {
		f, err := fence.Open(path)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, fence.ErrDamaged):
			return nil, cli.WrongUsage(err)
		case !errors.Is(err, fence.ErrInUse):
			return nil, cli.Wrong("--state: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}
