package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
)

// exitCode is what the program tells its caller.
type exitCode int

const (
	// exitYes: yes, or done.
	exitYes exitCode = 0
	// exitNo: no, or not in time.
	exitNo exitCode = 1
	// exitWrong: wrong usage, or it can never succeed.
	exitWrong exitCode = 2
)

// exitError ends the program with a code. Without an error nothing is printed:
// the answer was no, and said so.
type exitError struct {
	code   exitCode
	err    error
	silent bool // it has been printed
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "no"
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// errNo ends the program with the answer no, which has been printed.
var errNo = &exitError{code: exitNo}

// no ends the program with the answer no, for a reason.
func no(err error) error { return &exitError{code: exitNo, err: err} }

// wrong makes an error of wrong usage, or of what can never succeed.
func wrong(format string, args ...any) error {
	return usageError(fmt.Errorf(format, args...))
}

// usageError makes an error of wrong usage of another one.
func usageError(err error) error { return &exitError{code: exitWrong, err: err} }

// silent ends the program with a code for a reason that has been printed.
func silent(err error, code exitCode) error { return &exitError{code, err, true} }

// lineError is an error of the command line itself, for which help exists.
type lineError struct {
	err     error
	command string
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

// codeOf returns the exit code for an error.
func codeOf(err error) exitCode {
	if err == nil {
		return exitYes
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*lineError](err); ok {
		return exitWrong
	}
	if e, ok := errors.AsType[*api.StatusError](err); ok && e.Code >= 400 && e.Code < 500 && e.Code != 409 {
		return exitWrong
	}
	for _, never := range []error{failaware.ErrDuplicateID, failaware.ErrMismatch, failaware.ErrInUse, failaware.ErrDamaged, api.ErrInUse} {
		if errors.Is(err, never) {
			return exitWrong
		}
	}
	return exitNo
}

// message returns what is printed for an error, each line with the program's
// name, or nothing.
func message(err error) string {
	if e, ok := errors.AsType[*exitError](err); ok && (e.silent || e.err == nil) {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return "failaware: interrupted\n"
	}
	var b strings.Builder
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if line != "" {
			fmt.Fprintf(&b, "failaware: %s\n", strings.TrimPrefix(line, "failaware: "))
		}
	}
	if e, ok := errors.AsType[*lineError](err); ok {
		fmt.Fprintf(&b, "failaware: see '%s --help'\n", e.command)
	}
	return b.String()
}
