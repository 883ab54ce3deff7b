package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// attempt names a command that may have been sent before.
type attempt struct{ session, number string }

func (a *attempt) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.session, "session", "", "go on with a command whose outcome was unknown: its session, with --number")
	cmd.Flags().StringVar(&a.number, "number", "", "number of the command in its --session")
}

func (a *attempt) check() error {
	if a.session == "" && a.number == "" {
		return nil
	}
	if a.session == "" || a.number == "" {
		return cli.Wrong("--session and --number belong together")
	}
	if _, err := api.ParseSession(a.session); err != nil {
		return cli.Wrong("--session: %w", err)
	}
	if _, err := api.ParseNumber(a.number); err != nil {
		return cli.Wrong("--number: %w", err)
	}
	return nil
}

// write sends a command until its outcome is known, so that it is carried out once, and
// prints the answer.
func (a *attempt) write(g *globals, cmd *cobra.Command, path string, query url.Values, body []byte) error {
	if err := a.check(); err != nil {
		return err
	}
	return g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
		send := func(path string, query url.Values, body []byte, answer any) error {
			setWait(ctx, query)
			return c.AskStore(ctx, http.MethodPost, path, query, body, answer)
		}
		continued := a.session != ""
		if !continued {
			var s api.KVSession
			if err := send("session/open", url.Values{}, nil, &s); err != nil {
				return unopened(err)
			}
			a.session, a.number = s.Session, "1"
		}
		query.Set("session", a.session)
		query.Set("number", a.number)
		var answer api.KVWrite
		leave := a.interruptible(cmd.ErrOrStderr())
		err, known := persist(ctx, continued, func() error {
			answer = api.KVWrite{} // nothing of an earlier attempt
			return send(path, query, body, &answer)
		})
		leave()
		if !known {
			return &cli.ExitError{Code: exitUnknown, Err: fmt.Errorf("%w; %s", err, a.advice())}
		}
		err = printStore(cmd, http.MethodPost, err, &answer, func(w io.Writer) error { return writeText(w, &answer) })
		if !continued { // one that is left open gives way to later ones
			_ = send("session/close", url.Values{"session": {a.session}}, nil, &api.Done{})
		}
		return err
	})
}

// advice returns a text that explains how to learn the outcome of the command.
func (a *attempt) advice() string {
	return fmt.Sprintf("the outcome is not known: repeat the command, at any node, with --session %s --number %s", a.session, a.number)
}

// interruptible prints the advice when a signal ends the process, until leave is called.
// The process still dies by the signal, which also ends a loop of the shell; leave waits for
// that, or the answer could end the process in the middle of the advice.
func (a *attempt) interruptible(w io.Writer) (leave func()) {
	signals, done, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, heeded(os.Interrupt, syscall.SIGTERM)...)
	go func() {
		defer close(ended)
		select {
		case <-done:
		case s := <-signals:
			fmt.Fprintf(w, "failaware: interrupted; %s\n", a.advice())
			signal.Reset(s)
			if p, err := os.FindProcess(os.Getpid()); err != nil || p.Signal(s) != nil {
				os.Exit(int(exitUnknown)) // this system cannot send it
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}

// unopened gives the error of opening a session its exit code. Nothing was changed, even if
// it is unknown whether the session is open: no command was sent.
func unopened(err error) error {
	if err == nil {
		return nil
	}
	if hasStatus(err, http.StatusGatewayTimeout) { // of a proxy, or of a node of an older build
		return &cli.ExitError{Code: exitUnavailable, Err: fmt.Errorf("nothing was changed, since no session was opened: %w", err)}
	}
	return kvError(http.MethodGet, err)
}

// againAfter is the time between two attempts.
const againAfter = 100 * time.Millisecond

// persist sends a command until its outcome is known, or ctx ends. sent reports whether an
// earlier attempt may have carried it out: then the outcome stays unknown if a node refuses
// the command.
func persist(ctx context.Context, sent bool, send func() error) (err error, known bool) {
	for {
		err = send()
		code := cli.ExitYes
		if err != nil {
			code = kvError(http.MethodPost, err).Code
		}
		e, answered := errors.AsType[*api.StatusError](err)
		gone := answered && e.Code == http.StatusGone // for good
		// This attempt was not taken. That another command has its number says more: this one
		// never had it.
		refused := code == exitUnavailable || code == cli.ExitWrong && !(answered && e.Code == http.StatusUnprocessableEntity)
		switch {
		case gone, code != exitUnknown && !refused, refused && !sent:
			return err, true
		case code == cli.ExitWrong: // nor would another one be
			return err, false
		case code == exitUnknown:
			sent = true
		}
		select {
		case <-ctx.Done():
			return err, false
		case <-time.After(againAfter):
		}
	}
}
