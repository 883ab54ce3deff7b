//go:build !linux

package replicate_test

import "testing"

type powerDisk struct{}

func newPowerDisk(t *testing.T, _ string) *powerDisk {
	t.Skip("a disk whose power fails needs Linux")
	return nil
}

func (*powerDisk) fail() {}

func (*powerDisk) comeBack() {}
