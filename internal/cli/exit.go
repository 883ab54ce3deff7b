package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// ExitCode is the exit code of a program.
type ExitCode int

// The exit codes. [*ExitError] can carry others, such as that of a child process.
const (
	ExitYes   ExitCode = 0 // yes, or done
	ExitNo    ExitCode = 1 // no, or too late
	ExitWrong ExitCode = 2 // wrong usage, or it can never succeed
)

// ExitError ends a program with an exit code. The program prints Err unless Err
// is nil or Printed is set.
type ExitError struct {
	Code    ExitCode
	Err     error
	Printed bool
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return "no"
	}
	return e.Err.Error()
}

// Unwrap returns the reason.
func (e *ExitError) Unwrap() error { return e.Err }

// ErrNo ends a program whose printed answer was no.
var ErrNo = &ExitError{Code: ExitNo}

// No ends a program with [ExitNo] and prints err.
func No(err error) error { return &ExitError{Code: ExitNo, Err: err} }

// Wrong formats an error that ends a program with [ExitWrong].
func Wrong(format string, args ...any) error { return WrongUsage(fmt.Errorf(format, args...)) }

// WrongUsage ends a program with [ExitWrong] and prints err.
func WrongUsage(err error) error { return &ExitError{Code: ExitWrong, Err: err} }

// Printed ends a program with [ExitNo] after it has printed err itself.
func Printed(err error) error { return &ExitError{ExitNo, err, true} }

// Verdict returns err, or [ErrNo] if the printed answer was no.
func Verdict(err error, yes bool) error {
	if err == nil && !yes {
		return ErrNo
	}
	return err
}

// lineError is an error in the command line of a command.
type lineError struct {
	error
	command string
}

func (e *lineError) Unwrap() error { return e.error }

// SeeHelp ends a program with [ExitWrong], prints err, and refers to the help of
// the command.
func SeeHelp(cmd *cobra.Command, err error) error { return &lineError{err, cmd.CommandPath()} }

// codeOf returns the exit code for err. never reports errors that no repetition
// can avoid; it may be nil.
func codeOf(err error, never func(error) bool) ExitCode {
	if err == nil {
		return ExitYes
	}
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[*lineError](err); ok || never != nil && never(err) {
		return ExitWrong
	}
	return ExitNo
}
