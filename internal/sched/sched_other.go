//go:build !linux

package sched

// Prompt does nothing on this system.
func Prompt() error { return nil }

// Usual does nothing on this system.
func Usual(int) error { return nil }
