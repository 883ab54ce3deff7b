package join

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"

	"github.com/failaware/failaware/internal/trust"
)

// maxFile bounds the size of a file with addresses in bytes.
const maxFile = 64 << 10

// readFile reads the addresses of a file. A line has HOST:PORT; empty lines and those that
// begin with # do not count. A wrong line is named, and does not keep the others from
// being used.
func (f *Finder) readFile(ctx context.Context, s *search) (addrs []netip.AddrPort, err error) {
	s.file = nil
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, err
	}
	s.file = info
	file, err := trust.OpenRegular(s.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxFile:
		return nil, fmt.Errorf("%s: it is larger than %d bytes", s.Path, maxFile)
	}
	var errs []error
	number := 0
	for line := range strings.Lines(string(b)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		more, err := f.line(ctx, line)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", s.Path, number, err))
		}
		if addrs = append(addrs, more...); len(addrs) > MaxAddresses || len(errs) > MaxSources {
			break
		}
	}
	if len(addrs) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s has no address", s.Path))
	}
	return addrs, errors.Join(errs...)
}

// line returns the addresses of a line of a file.
func (f *Finder) line(ctx context.Context, text string) ([]netip.AddrPort, error) {
	s, err := Parse(text)
	switch {
	case err != nil:
		return nil, err
	case s.Kind == Address:
		return []netip.AddrPort{s.Addr}, nil
	case s.Kind == Name:
		return f.name(ctx, s.Host, s.Port)
	}
	return nil, fmt.Errorf("%q is not HOST:PORT", text)
}
