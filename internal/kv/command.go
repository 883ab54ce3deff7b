package kv

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/enum"
)

// Op is what a command does.
type Op uint8

// The commands.
const (
	// Put writes a key; with Match only if it has the version Version.
	Put Op = iota + 1
	// Delete deletes a key, with Match on the same condition.
	Delete
	// Grant creates a lease of TTL, named by the command's dot.
	Grant
	// Renew lets the lease Lease last for its TTL again.
	Renew
	// Revoke ends the lease Lease, and with it its keys.
	Revoke
	// Tick lets time pass, as the reading of its writer says.
	Tick
	// Resolve removes a conflict of a key. Lease names it: it is the dot of the write that
	// was lost.
	Resolve
)

func (o Op) String() string {
	return enum.Name(o, "", "put", "delete", "grant", "renew", "revoke", "tick", "resolve")
}

// Command is one command. Which fields it uses depends on Op.
type Command struct {
	Op  Op
	Dot Dot
	// At is the reading of the writer's clock before it submitted the command.
	At    clocksync.Reading
	Key   string
	Value []byte
	// Match demands that the key has the version Version: none if it must not exist.
	Match   bool
	Version Version
	// Lease is the lease that the key is bound to, or that the command is about.
	Lease Dot
	// TTL is the time that a lease lasts. For Put, it makes a lease for the key alone,
	// named by the command's dot.
	TTL time.Duration
	// Seen, of a Tick, is how far its writer's state was before the clock was read
	// ([State.Seen]): At is later than those commands. It is 0 in Ticks of earlier builds, and
	// of a node that has members of such builds. On the wire and on disks it is the Revision of
	// Version, which a Tick does not use.
	Seen uint64
}

// Errors of commands that no state takes.
var (
	ErrValue = fmt.Errorf("a value has at most %d bytes", MaxValueBytes)
	ErrTTL   = fmt.Errorf("a time to live is from %v to %v", MinTTL, MaxTTL)
	errOp    = errors.New("there is no such command")
	errDot   = errors.New("a command has no name")
)

// ParseTTL reads a time to live. The error names the text, and matches [ErrTTL] if only its
// limits are wrong.
func ParseTTL(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a duration with a unit, as in 10s", text)
	}
	if err := CheckTTL(d); err != nil {
		return 0, fmt.Errorf("%.40q: %w", text, err)
	}
	return d, nil
}

// CheckTTL returns [ErrTTL] if no lease may last for a time.
func CheckTTL(d time.Duration) error {
	if d < MinTTL || d > MaxTTL {
		return ErrTTL
	}
	return nil
}

// Check returns why no state takes the command, or nil: [ErrKey], [ErrValue], [ErrTTL], or
// that it is no command or has no name.
func (c *Command) Check() error {
	keyed := c.Op == Put || c.Op == Delete
	timed := c.Op == Grant || c.Op == Put && c.TTL != 0
	switch {
	case c.Op < Put || c.Op > Resolve:
		return errOp
	case c.Dot.Writer == 0 || c.Dot.Number == 0:
		return errDot
	case keyed && CheckKey(c.Key) != nil:
		return ErrKey
	case len(c.Value) > MaxValueBytes:
		return ErrValue
	case timed && CheckTTL(c.TTL) != nil:
		return ErrTTL
	}
	return nil
}

// Status is the outcome of a command.
type Status uint8

// The outcomes.
const (
	// Done: the command has changed the state, or had nothing left to change.
	Done Status = iota
	// Mismatch: the key has another version.
	Mismatch
	// NotFound: there is no such key, lease or conflict.
	NotFound
	// Full: the limit Limit is reached.
	Full
	// Repeated: the state has this command already.
	Repeated
	// Invalid: the bytes are no command.
	Invalid
)

func (s Status) String() string {
	return enum.Name(s, "done", "version mismatch", "not found", "full", "repeated", "invalid")
}

// Result is what a command has done, the same at all members.
type Result struct {
	Status Status
	// Revision is that of the state after the command.
	Revision uint64
	// Version is that of the key after the command; none if it does not exist.
	Version Version
	// Limit is the limit that is reached, if the status is Full.
	Limit string
	// Lease is the lease that the command has made, if it made one.
	Lease Dot
}
