package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/leader/quorum"
)

func newEpochCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "epoch", Short: "Show and replace the quorum system in use", Args: cobra.NoArgs,
		RunE: cli.Help,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "show", Short: "Show the quorum system in use and the progress of a change", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := show(g, cmd, "/v1/epoch", line("", epochText))
			return err
		},
	}, newEpochChangeCommand(g))
	return cmd
}

func epochText(e *api.Epoch) string { return epochPhaseText(e) + missingText(e.Missing) }

// missingText names the voters that are not alive, or is "".
func missingText(voters []int) string {
	switch len(voters) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; its voter %d is not alive", voters[0])
	}
	return "; its voters " + setText(voters) + " are not alive"
}

func epochPhaseText(e *api.Epoch) string {
	switch {
	case e.Static && e.Quorum == "":
		return "the node has no quorum system"
	case e.Static:
		return fmt.Sprintf("epoch %d: %s, which cannot be replaced: that needs a state directory, and with --broadcast-require-quorum also --kv linearizable", e.Epoch, e.Quorum)
	case e.Epoch == 0:
		return "the node has not heard of an epoch yet"
	case len(e.Dead) > 0:
		return fmt.Sprintf("epoch %d: %s; %s: %s, forced, with %v declared dead", e.Epoch, e.Quorum, e.Phase, e.Next, e.Dead)
	case e.Next != "":
		return fmt.Sprintf("epoch %d: %s; %s: %s", e.Epoch, e.Quorum, e.Phase, e.Next)
	}
	return fmt.Sprintf("epoch %d: %s", e.Epoch, e.Quorum)
}

// parseSystem reads a quorum system.
func parseSystem(text string) (quorum.System, error) {
	s, err := quorum.Parse(text)
	if err != nil {
		return nil, errors.New(withoutPackages(err.Error()))
	}
	return s, nil
}

// unreplaced returns the error of a change of the quorum system with the flag in place of the
// field.
func unreplaced(err error) error {
	if e, ok := errors.AsType[*api.StatusError](err); ok {
		const field = "Broadcast.RequireQuorum"
		e.Text = strings.ReplaceAll(strings.ReplaceAll(e.Text, field, flagOf(field)), "insist by unheard", "insist by --unheard")
	}
	return err
}

// perhapsForced returns the error of a forced change with a warning, unless it says that nothing
// was forced.
func perhapsForced(err error) error {
	answer, answered := errors.AsType[*api.StatusError](err)
	switch {
	case answered && answer.Code >= http.StatusInternalServerError, mayHaveArrived(err), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w; it may have forced the change all the same: before you force at another node, 'epoch show' at this one must tell that it has not", err)
	}
	return err
}

// warnMissing names the voters of the system in use that are not alive. An error says nothing.
func warnMissing(g *globals, cmd *cobra.Command) {
	_ = g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
		var e api.Epoch
		if err := c.Get(ctx, "/v1/epoch", &e); err == nil && len(e.Missing) > 0 {
			fmt.Fprintln(cli.Text(cmd.ErrOrStderr()), "failaware: "+e.Quorum+missingText(e.Missing))
		}
		return nil
	})
}

// changeFlags are the flags of the command that replaces the quorum system.
type changeFlags struct {
	force, unheard bool
	dead           string
}

// query returns the parameters of a change to a quorum system.
func (f *changeFlags) query(next quorum.System) (url.Values, error) {
	switch {
	case f.force && f.dead == "":
		return nil, cli.Wrong("--force needs --dead: name the members that are off for good")
	case !f.force && f.dead != "":
		return nil, cli.Wrong("--dead needs --force")
	case f.force && f.unheard:
		return nil, cli.Wrong("--force needs nobody: without --unheard")
	}
	query := url.Values{"system": {next.String()}}
	if f.force {
		query.Set("dead", f.dead)
	}
	if f.unheard {
		query.Set("unheard", "true")
	}
	return query, nil
}

// text says what has become of a change to a quorum system that was carried out.
func (f *changeFlags) text(next quorum.System) string {
	if f.force {
		return "the node tells the other survivors: " + next.String() + "; 'epoch show' tells when it has begun. If they cannot know what the dead had, a linearizable store then waits for 'failaware kv bootstrap', which may lose acknowledged writes"
	}
	return "the node is in an epoch of " + next.String()
}

func newEpochChangeCommand(g *globals) *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use: "change SYSTEM", Short: "Replace the quorum system, at its leader or by force", Args: cli.Args,
		Long: `Have the node, which must lead globally, propose a quorum system as the successor of
the one in use, and wait until the node has entered the next epoch. A linearizable store
goes along: quorums of both systems must have its state before, and a quorum of the next
system has it when the command is done. Members of the former may be stopped then. If the
command fails or its answer is lost, run it again. The node refuses a system of which it
hears no quorum, under which nobody could lead then, and one with a new voter that is not
alive, which may be mistyped.

With --force, a survivor replaces the quorum system without a leader. Use it when so many
members are lost for good that none can be elected. The node refuses to call a member dead that
it hears; nothing else checks your claims about the dead:

  * The dead must be off and stay off until every survivor has entered the next epoch,
    and their state directories must be deleted. A node that is merely cut off, or is
    started again with its old state, may lead by the old quorum system while another
    leads by the new one.
  * No later epoch may have begun. Look at every node that might be a member of one.
  * Force at one survivor only. Survivors with different successors never finish the
    change; then you need a new group. If the command fails without a refusal, look at
    'epoch show' there before you force anywhere else.
  * A linearizable store waits until a quorum of the old system is there that remembers, or
    until 'failaware kv bootstrap': then writes that only the dead had are lost, although
    they were acknowledged.
  * Edicts that the dead created last, and that no survivor knows, precede all edicts of
    the new epoch, even if they arrive later.

If a further member dies before the epoch has ended, force again, with the same
successor and more dead.`,
		Example: `  failaware epoch change majority:2,3,4
  failaware epoch change majority:1,2,5 --force --dead 3,4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			next, err := parseSystem(args[0])
			if err != nil {
				return cli.Wrong("SYSTEM: %w", err)
			}
			query, err := f.query(next)
			if err != nil {
				return err
			}
			err = unreplaced(g.order(cmd, "/v1/epoch/change?"+query.Encode(), api.CommandLimit+defaultTimeout, f.text(next)))
			if f.force {
				return perhapsForced(err)
			}
			if err == nil {
				warnMissing(g, cmd)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&f.force, "force", false, "replace it without a leader; read the conditions first")
	cmd.Flags().BoolVar(&f.unheard, "unheard", false, "replace it although no quorum of the new system is heard, or a new voter is not alive")
	cmd.Flags().StringVar(&f.dead, "dead", "", "with --force: the members that are off for good, such as 3,4")
	return cmd
}
