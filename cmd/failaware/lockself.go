package main

import (
	"errors"

	"github.com/failaware/failaware/internal/cli"
)

// sameBuild returns an error unless a lock of this build has started this process with at
// least some arguments, of which the first is its build. Where a program can only be started
// by its path, another one may be there since lock has begun, and the two may mean different
// things by their messages.
func sameBuild(args []string, least int) error {
	if len(args) < least || args[0] != cli.Version() {
		return cli.No(errors.New("lock: the program was replaced by another build since lock has begun: restart the lock"))
	}
	return nil
}
