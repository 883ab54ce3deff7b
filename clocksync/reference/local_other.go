//go:build !linux

package reference

import (
	"context"
	"errors"
	"fmt"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// missing is a reference that this operating system does not support.
type missing string

func (m missing) poll(context.Context) (Sample, error) {
	return Sample{}, fmt.Errorf("%s: %w on this system", string(m), errors.ErrUnsupported)
}

func newKernel(*hwclock.Clock, timed.Drift) source { return missing("the kernel's clock") }

func newPHC(c Config, _ *hwclock.Clock, _ timed.Drift) source { return missing(c.PHC) }
