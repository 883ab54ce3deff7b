//go:build !linux

package hwclock

import (
	"errors"
	"fmt"
)

// StepWatch detects steps of CLOCK_REALTIME, on Linux.
type StepWatch struct{}

// NewStepWatch fails with [errors.ErrUnsupported] on this system.
func NewStepWatch() (*StepWatch, error) {
	return nil, fmt.Errorf("hwclock: watching for clock steps: %w", errors.ErrUnsupported)
}

// Stepped reports whether the clock may have been stepped: always, here.
func (w *StepWatch) Stepped() bool { return true }

// Wait reports that there is no watch.
func (w *StepWatch) Wait() bool { return false }

// Close ends the watch.
func (w *StepWatch) Close() error { return nil }
