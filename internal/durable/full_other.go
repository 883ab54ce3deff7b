//go:build !unix && !windows

package durable

// Full is not known here.
func Full(error) bool { return false }

// Exhausted is not known here.
func Exhausted(error) bool { return false }
