package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/seal"
)

func newKeysCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Show and rotate the keys of a group", Args: cobra.NoArgs,
		Long: `Show and rotate the keys of a group. The commands change the key file of the node that
answers, and have the node read it again. They must run on the node's machine, as the user
of the node. Each answers for the node and for every peer that it hears. Keys do not
travel: only the ids of keys do.

To replace a key without a gap, do each step at every node before the next step:

  1. failaware keygen new, once, and copy the file to every node.
  2. failaware keys install new
  3. failaware keys use ID
  4. failaware keys remove ID-OF-THE-OLD-KEY

A file that is changed in another way counts after failaware keys reload, or SIGHUP.`,
		RunE: cli.Help,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "Show which keys the node and its peers have", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return askKeys(g, cmd, (*api.Client).Keys) },
	}, newKeysInstallCommand(g), newKeysUseCommand(g), newKeysRemoveCommand(g), &cobra.Command{
		Use: "reload", Short: "Have the node read its key file again", Args: cobra.NoArgs,
		Long: `Have the node read its key file again. Nothing keeps it from a change that cuts a peer off,
which "use" and "remove" refuse: a warning names the peers that may not hear the node any
more.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askKeys(g, cmd, func(c *api.Client, ctx context.Context) (api.Keys, error) {
				k, err := c.ReloadKeys(ctx)
				if err == nil {
					warnLacking(cmd, &k)
				}
				return k, err
			})
		},
	})
	return cmd
}

// askKeys prints the answer of a node to a question about keys.
func askKeys(g *globals, cmd *cobra.Command, ask func(*api.Client, context.Context) (api.Keys, error)) error {
	return g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
		k, err := ask(c, ctx)
		if err != nil {
			return err
		}
		return cli.Print(cmd, k, func(w io.Writer) error { return writeKeys(w, &k) })
	})
}

func newKeysInstallCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "install FILE", Short: "Add the keys of a file to those that open packets", Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			more, err := seal.ReadFile(args[0])
			if err != nil {
				return cli.Wrong("%w", err)
			}
			return changeKeys(g, cmd, func(r *seal.Ring, _ *api.Keys) (*seal.Ring, error) { return installed(r, more) })
		},
	}
}

func newKeysUseCommand(g *globals) *cobra.Command {
	return newKeyCommand(g, &cobra.Command{Use: "use ID", Short: "Have packets sealed with another installed key"},
		func(r *seal.Ring, k *api.Keys, id seal.KeyID, force bool) (*seal.Ring, error) {
			next, err := r.Use(id)
			if lack := lacking(k, id.String()); err == nil && len(lack) > 0 && !force {
				return nil, cli.No(fmt.Errorf("nodes %v have not said that they have key %v, and would no longer hear this node: install it there first (it takes them a moment to say so), or use --force", lack, id))
			}
			return next, err
		})
}

func newKeysRemoveCommand(g *globals) *cobra.Command {
	return newKeyCommand(g, &cobra.Command{Use: "remove ID", Short: "Remove a key that no node uses any more"},
		func(r *seal.Ring, k *api.Keys, id seal.KeyID, force bool) (*seal.Ring, error) {
			if users := using(k, id); len(users) > 0 && !force {
				return nil, cli.No(fmt.Errorf("nodes %v seal packets with key %v, and this node would no longer hear them: have them use another key first (it takes a moment until 'failaware keys list' shows that they do), or use --force", users, id))
			}
			if !slices.Contains(r.IDs(), id) && slices.Contains(k.Keys, id.String()) {
				return r, nil // an interrupted removal: the node has yet to read the file again
			}
			return r.Remove(id)
		})
}

// newKeyCommand completes a command that changes the ring of the node and names a key.
func newKeyCommand(g *globals, cmd *cobra.Command, change func(*seal.Ring, *api.Keys, seal.KeyID, bool) (*seal.Ring, error)) *cobra.Command {
	force := cmd.Flags().Bool("force", false, "do it even if it cuts a peer off")
	cmd.Args = cli.Args
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := seal.ParseKeyID(args[0])
		if err != nil {
			return cli.Wrong("ID: %w", err)
		}
		return changeKeys(g, cmd, func(r *seal.Ring, k *api.Keys) (*seal.Ring, error) { return change(r, k, id, *force) })
	}
	return cmd
}

// installed returns a ring with the keys of another one that it lacks.
func installed(r, more *seal.Ring) (*seal.Ring, error) {
	keys := more.Keys()
	for i := range keys {
		if slices.Contains(r.IDs(), keys[i].ID()) {
			continue // installing it again does no harm
		}
		var err error
		if r, err = r.Install(keys[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// lacking returns the peers that have shown their keys and lack one. A peer that is not
// heard now counts too: it may come back with the keys that it had.
func lacking(k *api.Keys, id string) (ids []int) {
	for _, p := range k.Peers {
		if len(p.Keys) > 0 && !slices.Contains(p.Keys, id) {
			ids = append(ids, p.Node)
		}
	}
	return ids
}

// warnLacking warns of peers that lack the key with which the node seals its packets now.
func warnLacking(cmd *cobra.Command, k *api.Keys) {
	if len(k.Keys) == 0 {
		return
	}
	if ids := lacking(k, k.Keys[0]); len(ids) > 0 {
		fmt.Fprintf(cli.Text(cmd.ErrOrStderr()), "failaware: nodes %v have not said that they have key %v, and may not hear this node any more\n", ids, k.Keys[0])
	}
}

// using returns the peers whose latest packet was sealed with a key.
func using(k *api.Keys, id seal.KeyID) (ids []int) {
	for _, p := range k.Peers {
		if len(p.Keys) > 0 && p.Keys[0] == id.String() {
			ids = append(ids, p.Node)
		}
	}
	return ids
}

var errElsewhere = errors.New("the node reads another file than was changed: run this on its machine")

// changeKeys changes the key file of the node and makes the node read it again.
func changeKeys(g *globals, cmd *cobra.Command, change func(*seal.Ring, *api.Keys) (*seal.Ring, error)) error {
	return g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error { return changeFile(ctx, c, cmd, change) })
}

// changeFile is not part of changeKeys, which the compiler inlines once for each command.
func changeFile(ctx context.Context, c *api.Client, cmd *cobra.Command, change func(*seal.Ring, *api.Keys) (*seal.Ring, error)) error {
	if addr := c.Addr(); addr.Secure() { // nodes of a group often have the same keys in files of the same path
		return cli.Wrong("the node at %s may be on another machine than this one: change its keys at its socket there, or change the file there and have it read by 'keys reload'", addr)
	}
	k, err := c.Keys(ctx)
	if err != nil {
		return err
	}
	if k.File == "" {
		return cli.Wrong("node %d has no keys: it was started without --key-file", k.Node)
	}
	if user := c.Other(); user != 0 {
		return cli.Wrong("node %d is user %d's, and names the file %s: change its keys as that user", k.Node, user, k.File)
	}
	var changed *seal.Ring
	err = seal.ChangeFile(k.File, func(r *seal.Ring) (_ *seal.Ring, err error) {
		changed, err = change(r, &k)
		return changed, err
	})
	if refused, ok := errors.AsType[*cli.ExitError](err); ok {
		return refused // a peer is not ready for the change yet
	}
	if err != nil {
		return cli.WrongUsage(err)
	}
	if k, err = c.ReloadKeys(ctx); err != nil {
		return err
	}
	if ids := changed.IDs(); len(k.Keys) != len(ids) || k.Keys[0] != ids[0].String() {
		return cli.WrongUsage(errElsewhere)
	}
	return cli.Print(cmd, k, func(w io.Writer) error { return writeKeys(w, &k) })
}

func writeKeys(w io.Writer, k *api.Keys) error {
	t := cli.NewTable(w)
	t.Row("NODE", "ALIVE", "SEALS", "OPENS")
	row := func(name string, alive bool, keys []string) {
		seals, opens := "-", "-"
		if len(keys) > 0 {
			seals, opens = keys[0], strings.Join(keys, " ")
		}
		t.Row(name, cli.YesNo(alive), seals, opens)
	}
	row(fmt.Sprintf("%d*", k.Node), true, k.Keys)
	for _, p := range k.Peers {
		row(fmt.Sprint(p.Node), p.Alive, p.Keys)
	}
	return t.Flush()
}
