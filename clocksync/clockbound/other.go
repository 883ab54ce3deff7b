//go:build !linux

package clockbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/failaware/failaware/clocksync/serve"
)

var errNotLinux = fmt.Errorf("clockbound: requires Linux: %w", errors.ErrUnsupported)

// Create returns [errors.ErrUnsupported] on this system.
func Create(context.Context, string, serve.Source, Options) (*Writer, error) {
	return nil, errNotLinux
}

// Open returns [errors.ErrUnsupported] on this system.
func Open(string) (*Reader, error) { return nil, errNotLinux }
