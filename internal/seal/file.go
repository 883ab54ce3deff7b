package seal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/trust"
)

// maxFile bounds the size of a key file in bytes.
const maxFile = 64 << 10

// Parse returns the ring of a key file: one key on a line, the key that seals first.
// Empty lines and lines that begin with # are ignored. Errors name the line and show no
// key.
func Parse(text string) (*Ring, error) {
	var keys []Key
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		k, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		keys = append(keys, k)
	}
	return NewRing(keys...)
}

// Format returns a key file.
func (r *Ring) Format() string {
	var b strings.Builder
	b.WriteString("# Keys of a failaware group. The first one seals packets, and all of them open packets.\n")
	for i := range r.keys {
		fmt.Fprintf(&b, "# id %v\n%s\n", r.ids[i], r.keys[i].Text())
	}
	return b.String()
}

// ReadFile reads a key file. It refuses a file that other users may read or change, and
// a directory in which they may replace it. Errors name the file.
func ReadFile(path string) (*Ring, error) {
	r, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("the key file %s: %w", path, err)
	}
	return r, nil
}

func readFile(path string) (*Ring, error) {
	f, err := trust.Open(path, os.O_RDONLY, 0, trust.Private)
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok {
			return nil, e.Err // the caller names the file
		}
		return nil, err
	}
	defer f.Close()
	if err := trust.Dir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxFile:
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return Parse(string(b))
}

// WriteFile replaces a key file as a whole, and returns when it is on the disk. It keeps
// its owner, its group and its mode: root may change the keys of a service, which must
// still be able to read them.
func (r *Ring) WriteFile(path string) error { return durable.Replace(path, []byte(r.Format())) }

// lockPatience is how long a change of a key file waits for another one.
const lockPatience = 2 * time.Second

// errBusy: another process is changing the key file.
var errBusy = errors.New("another command is changing it")

// ChangeFile replaces the ring of a key file by what change returns for it, and returns when
// that is on the disk. A lock beside the file keeps other changes away meanwhile: one of two
// at once would be lost. Errors name the file, unless they come from change.
func ChangeFile(path string, change func(*Ring) (*Ring, error)) error {
	lock, err := durable.AwaitLock(path+".lock", lockPatience)
	if errors.Is(err, durable.ErrLocked) {
		err = errBusy
	}
	if err != nil {
		return fmt.Errorf("the key file %s: %w", path, err)
	}
	defer func() { _ = lock.Release() }()
	r, err := ReadFile(path)
	if err != nil {
		return err
	}
	next, err := change(r)
	if err != nil {
		return err
	}
	if err := next.WriteFile(path); err != nil {
		return fmt.Errorf("the key file %s: %w", path, err)
	}
	return nil
}

// CreateFile writes a key file that does not exist yet, and returns when it is on the
// disk. Only its owner can read it.
func (r *Ring) CreateFile(path string) error { return durable.Create(path, []byte(r.Format())) }
