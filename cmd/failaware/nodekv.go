package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/internal/store"
	"github.com/failaware/failaware/replicate"
)

func setStore(c *nodeConfig, s string) error {
	if !slices.Contains(kv.Kinds, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(kv.Kinds, ", "))
	}
	c.kv = s
	return nil
}

// takeStore enables the features that a store needs.
func (c *nodeConfig) takeStore(values source) (errs []error) {
	where := func(key string) string { return values[key][len(values[key])-1].origin }
	if c.kv == "" {
		for _, key := range []string{"kv.dir", "kv.leased_reads", "kv.trace"} {
			if len(values[key]) > 0 {
				errs = append(errs, fmt.Errorf("%s: it needs --kv", where(key)))
			}
		}
		return errs
	}
	c.broadcast = true
	linearizable := c.kv == kv.Linearizable.String()
	switch {
	case c.cast.SendOnly:
		errs = append(errs, fmt.Errorf("%s: a node with --kv takes its deliveries", where("broadcast.send_only")))
	case linearizable && c.Quorum == nil && !c.JoinQuorum:
		errs = append(errs, fmt.Errorf("%s: linearizable: it needs --quorum, the same at all nodes, as in majority:1,2,3, or --join-quorum", where("kv.kind")))
	case linearizable && c.kvDir != "" && c.StateDir == "":
		errs = append(errs, fmt.Errorf("%s: linearizable: it needs --state-dir", where("kv.dir")))
	case !linearizable && c.cast.RequireQuorum:
		errs = append(errs, fmt.Errorf("%s: --kv partitionable goes on without a quorum", where("broadcast.require_quorum")))
	}
	c.cast.RequireQuorum = linearizable
	return errs
}

// prepareStore reads the state of the store before the node starts: a node whose state
// cannot be used must not appear in the group, and one with a large state joins with it.
func (r *nodeRun) prepareStore() error {
	if r.cfg.kv == "" {
		return nil
	}
	kind := kv.Kind(slices.Index(kv.Kinds, r.cfg.kv))
	var err error
	r.prepared, err = store.Prepare(r.cfg.Config, store.Config{Kind: kind, Dir: r.cfg.kvDir, LeasedReads: r.cfg.kvLeased, Trace: r.cfg.kvTrace, OnEvent: r.logStore})
	if path, ok := errors.AsType[*fs.PathError](err); ok && r.cfg.kvDir == "" {
		return cli.Wrong("--kv: large snapshots need a temporary directory: %w; TMPDIR names another one, and with --kv-dir none is needed", path)
	}
	if err != nil {
		return r.damagedError(err)
	}
	return nil
}

// startStore starts the store of the node, if it has one.
func (r *nodeRun) startStore() error {
	if r.prepared == nil {
		return nil
	}
	var err error
	if r.store, err = r.prepared.Start(r.node); err != nil {
		return cli.Wrong("%s", r.cfg.values.byOrigin(err))
	}
	return nil
}

// logStore logs an event of the state.
func (r *nodeRun) logStore(e replicate.Event) {
	text := "store: " + inFlags(e.String())
	if _, ok := e.(replicate.Begun); ok {
		text = fieldsToFlags(text)
	}
	r.log.Log(replicate.Level(e), text)
}

// newServer returns the server of the node and its store.
func (r *nodeRun) newServer() *api.Server {
	if r.store == nil {
		return api.NewServer(r.node)
	}
	return api.NewServerWithStore(r.node, r.store)
}

// endError returns the reason why the node has stopped itself.
func (r *nodeRun) endError() error {
	if r.store != nil {
		_ = r.store.Close() // waits for its end
		if err := r.store.Err(); err != nil && !errors.Is(err, failaware.ErrClosed) {
			return cli.Wrong("the store has stopped, and the node with it: %s", inFlags(err.Error()))
		}
	}
	return r.advise(r.node.Err())
}

// advise adds what to do to the reason why a node has stopped itself.
func (r *nodeRun) advise(err error) error {
	switch {
	case !errors.Is(err, failaware.ErrDuplicateID):
		return err
	case r.cfg.ID == failaware.NoNode:
		return cli.No(fmt.Errorf("%s; started again, the node takes another id", strings.TrimPrefix(err.Error(), "failaware: ")))
	}
	return fmt.Errorf("%w; give one of the two another --id", err)
}
