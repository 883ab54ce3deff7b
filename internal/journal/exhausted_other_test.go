//go:build !linux

package journal_test

import "testing"

func exhaustedSystem(t testing.TB) { t.Skip("the limit of open files cannot be changed here") }

func exhaustedRotation(t testing.TB) { t.Skip("the limit of open files cannot be changed here") }
