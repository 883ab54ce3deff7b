//go:build !mutants

package main

import "github.com/spf13/pflag"

// plantFlag adds the flag that plants a bug: not in this build.
func plantFlag(*pflag.FlagSet) {}

func plant() error { return nil }
