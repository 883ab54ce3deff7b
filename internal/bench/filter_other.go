//go:build !linux

package bench

import "errors"

// dropFrom would make the kernel drop packets.
func dropFrom(uint16, []uint16) error {
	return errors.New("cutting the network needs Linux")
}
