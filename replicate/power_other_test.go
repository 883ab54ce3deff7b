//go:build !linux

package replicate_test

import (
	"os/exec"
	"testing"
)

type powerDisk struct{}

func newPowerDisk(t *testing.T, _ string) *powerDisk {
	t.Skip("a disk whose power fails needs Linux")
	return nil
}

func (*powerDisk) fail(...*exec.Cmd) {}

func (*powerDisk) comeBack() {}
