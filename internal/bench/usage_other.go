//go:build !linux

package bench

import "errors"

var errLinux = errors.New("the usage of processes is known on Linux only")

func (u *usage) ofProcess() error { return errLinux }

func peakMemory() (int64, error) { return 0, errLinux }
