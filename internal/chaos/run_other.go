//go:build !linux

package chaos

import (
	"context"
	"errors"
)

// Missing returns what this machine lacks for chaos runs.
func Missing() string { return "chaos runs need Linux" }

// Run fails: chaos runs need Linux.
func Run(context.Context, Options) (*Result, error) { return nil, errors.New(Missing()) }
