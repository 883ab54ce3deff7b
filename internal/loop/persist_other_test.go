//go:build !linux

package loop

import "testing"

func withoutFiles(t testing.TB) func() {
	t.Skip("the limit of open files takes effect at once on Linux")
	return nil
}
