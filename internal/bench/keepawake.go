package bench

import (
	"errors"

	"github.com/failaware/failaware/internal/awake"
)

// MayKeepAwake returns nil if this process may keep processors from sleeping, and
// else why not.
func MayKeepAwake() error { return keepAwake(func() error { return nil }) }

// keepAwake keeps processors from sleeping while f runs. It is the machine's
// processors that the request is about, so it does not matter which process holds it.
func keepAwake(f func() error) error {
	request, err := awake.Hold()
	if err != nil {
		return err
	}
	return errors.Join(f(), request.Close())
}
