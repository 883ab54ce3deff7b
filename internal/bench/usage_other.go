//go:build !linux

package bench

import "errors"

func (u *usage) ofProcess() error {
	return errors.New("the usage of processes is known on Linux only")
}
