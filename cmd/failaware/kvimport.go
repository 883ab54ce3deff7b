package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/replicate"
)

func newKVImportCommand(g *globals) *cobra.Command {
	i := importer{g: g}
	cmd := &cobra.Command{
		Use: "import FILE|-", Short: "Write the keys of a list", Args: cli.Args,
		Long: `Write the keys and values of a file, or of the standard input if that is "-": the output
of "kv list --all -o json", of this store or another one. Keys that exist are left alone,
and then the exit code is 4; with --overwrite they get the values of the list. Keys that
had a lease are left out. Each key is written once, however often it is sent. --timeout is
the longest time that 128 keys may take. An import that fails can be repeated, unless the
store is full (exit code 1).`,
		Example: "  failaware kv list --all -o json >backup.json\n  failaware kv import backup.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := readList(cmd, args[0])
			if err != nil {
				return err
			}
			if i.client, err = g.client(); err != nil {
				return err
			}
			i.cmd, i.told = cmd, time.Now()
			return i.run(list)
		},
	}
	cmd.Flags().BoolVar(&i.overwrite, "overwrite", false, "replace the values of keys that exist")
	return cmd
}

// imported is what came of an import, in keys.
type imported struct {
	Written  int `json:"written"`
	Existing int `json:"existing"` // left alone
	Leased   int `json:"leased"`   // left out
}

// importer writes keys in batches, each key once. A session remembers its last commands, so a
// batch takes several sessions.
type importer struct {
	g         *globals
	cmd       *cobra.Command
	client    *api.Client
	overwrite bool
	sessions  []string
	number    uint64 // of the next command of each session
	all       int    // keys
	answer    imported
	told      time.Time // when progress was shown
}

// importSessions is how many sessions an import opens at most.
const importSessions = api.MaxBatch / replicate.SessionWindow

// run writes the keys of a list, and prints what came of it.
func (i *importer) run(list []api.KVCommand) error {
	i.answer.Leased = len(list)
	list = slices.DeleteFunc(list, func(c api.KVCommand) bool { return c.Lease != nil })
	i.answer.Leased -= len(list)
	i.all, i.number = len(list), 1
	for len(i.sessions) < min(importSessions, (i.all+replicate.SessionWindow-1)/replicate.SessionWindow) {
		if err := i.open(); err != nil {
			return err
		}
	}
	for len(list) > 0 {
		n := i.fitting(list)
		if err := i.write(list[:n]); err != nil {
			return i.failed(err)
		}
		list = list[n:]
		i.progress()
	}
	for _, id := range i.sessions { // one that is left open gives way to later ones
		_ = i.g.ask(i.cmd, i.client, http.MethodPost, "session/close", url.Values{"session": {id}}, &api.Done{})
	}
	err := cli.Print(i.cmd, i.answer, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, i.answer.text())
		return err
	})
	if err == nil && i.answer.Existing > 0 {
		return &cli.ExitError{Code: exitMismatch}
	}
	return err
}

// text describes an import.
func (a *imported) text() string {
	parts := []string{fmt.Sprintf("%d written", a.Written)}
	if a.Existing > 0 {
		parts = append(parts, fmt.Sprintf("%d exist and were left alone (--overwrite replaces their values)", a.Existing))
	}
	if a.Leased == 1 {
		parts = append(parts, "1 had a lease and was left out")
	} else if a.Leased > 1 {
		parts = append(parts, fmt.Sprintf("%d had a lease and were left out", a.Leased))
	}
	return "keys: " + strings.Join(parts, ", ")
}

// open opens another session.
func (i *importer) open() error {
	var s api.KVSession
	if err := i.g.ask(i.cmd, i.client, http.MethodPost, "session/open", url.Values{}, &s); err != nil {
		return unopened(err)
	}
	i.sessions = append(i.sessions, s.Session)
	return nil
}

// fitting returns how many of the first commands one batch takes.
func (i *importer) fitting(list []api.KVCommand) int {
	const around = 512 // of JSON around a value, besides the key, which may be escaped
	size := 0
	for n := range list {
		size += 6*len(list[n].Key) + (len(list[n].Value)+2)/3*4 + around
		if n == len(i.sessions)*replicate.SessionWindow || n > 0 && size > api.MaxBatchBytes {
			return n
		}
	}
	return len(list)
}

// write sends commands until the outcome of each is known.
func (i *importer) write(list []api.KVCommand) error {
	ctx, cancel := i.g.within(i.cmd.Context(), defaultTimeout)
	defer cancel()
	for k := range list {
		number := i.number + uint64(k%replicate.SessionWindow)
		list[k].Session, list[k].Number = &i.sessions[k/replicate.SessionWindow], &number
		if !i.overwrite {
			list[k].Version = new("0")
		}
	}
	i.number += replicate.SessionWindow
	for {
		left, err := i.attempt(ctx, list)
		if left == 0 {
			return err
		}
		list = list[:left]
		select {
		case <-ctx.Done():
			return err
		case <-time.After(againAfter):
		}
	}
}

// attempt sends commands. It moves those whose outcome is not known to the front, and returns
// their number with the error of one, or 0 with an error that another attempt would get, too.
func (i *importer) attempt(ctx context.Context, list []api.KVCommand) (left int, err error) {
	query := url.Values{}
	setWait(ctx, query)
	results, err := i.client.SubmitBatch(ctx, query, list)
	if err != nil {
		if code := kvError(http.MethodPost, err).Code; code == exitUnavailable || code == exitUnknown {
			return len(list), err
		}
		return 0, err
	}
	var final error
	for k, r := range results {
		text := fmt.Sprintf("key %q: %s", list[k].Key, r.Error)
		switch {
		case r.Code == http.StatusOK:
			i.answer.Written++
		case r.Code == http.StatusConflict && !i.overwrite:
			i.answer.Existing++
		case r.Write != nil: // the store is full
			final = &cli.ExitError{Code: cli.ExitNo, Err: errors.New(text)}
		case r.Code > http.StatusNotImplemented:
			list[left], err = list[k], &api.StatusError{Code: r.Code, Text: text}
			left++
		default:
			final = &api.StatusError{Code: r.Code, Text: text}
		}
	}
	if final != nil {
		return 0, final
	}
	return left, err
}

// failed returns the error of an import that has ended early.
func (i *importer) failed(err error) error {
	e := kvError(http.MethodPost, err)
	advice := ": repeat the import to go on"
	if e.Code == cli.ExitNo { // the store is full
		advice = ""
	}
	e.Err = fmt.Errorf("%w; %d of %d keys were written, or existed%s", e.Err, i.answer.Written+i.answer.Existing, i.all, advice)
	return e
}

// progress tells how far the import is, every few seconds.
func (i *importer) progress() {
	if now := time.Now(); now.Sub(i.told) >= 2*time.Second {
		i.told = now
		fmt.Fprintf(i.cmd.ErrOrStderr(), "failaware: %d of %d keys\n", i.answer.Written+i.answer.Existing, i.all)
	}
}
