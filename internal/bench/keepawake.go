package bench

import (
	"errors"

	"github.com/failaware/failaware/internal/awake"
)

// MayKeepAwake returns nil if this process may keep processors from sleeping, or the
// reason if it may not.
func MayKeepAwake() error { return keepAwake(func() error { return nil }) }

// keepAwakeIf keeps the processors of the machine from sleeping while f runs, if on is set.
func keepAwakeIf(on bool, f func() error) error {
	if on {
		return keepAwake(f)
	}
	return f()
}

// keepAwake keeps the processors of the machine from sleeping while f runs. Any process
// can hold the request.
func keepAwake(f func() error) error {
	request, err := awake.Hold()
	if err != nil {
		return err
	}
	return errors.Join(f(), request.Close())
}
