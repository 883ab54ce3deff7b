//go:build !linux

package clockbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/failaware/failaware/clocksync/serve"
)

// Create fails with [errors.ErrUnsupported] on this system.
func Create(context.Context, string, serve.Source, Options) (*Writer, error) {
	return nil, fmt.Errorf("clockbound: the clocks of Linux are needed: %w", errors.ErrUnsupported)
}

// Open fails with [errors.ErrUnsupported] on this system.
func Open(string) (*Reader, error) {
	return nil, fmt.Errorf("clockbound: the clocks of Linux are needed: %w", errors.ErrUnsupported)
}
