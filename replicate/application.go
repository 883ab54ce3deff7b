package replicate

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Application is a state that is kept the same at all members of a group. Its
// methods are called one after the other, by one goroutine, and may take their time:
// only this node's state lags. Applications of all nodes begin in equal states.
//
// A panic of a method ends the process. An operation whose Apply panics does so at every member
// that applies it, and with [Config.Storage] again at each start: Apply had better return an
// error as its result.
//
// An application that continues in several parts of a split group is also a [Merger], and one
// whose states are compared ([Config.HashEvery]) is also a [Hasher]. It may be a [Recognizer].
type Application interface {
	// Apply changes the state by one operation, and depends on nothing but the state and
	// the operation. Its result is for [Replica.Submit] at the node that submitted the
	// operation, and is dropped elsewhere.
	Apply(op Operation) (result any)
	// Snapshot writes the state to w. After an error, another member does it, if one can.
	// Otherwise it is called again, first after a second and eventually once a minute. If
	// [Config.Storage] only wanted to replace its log, it is called again after further
	// operations.
	Snapshot(w io.Writer) error
	// Restore replaces the state by one that Snapshot has written; r ends with it. An
	// error ends the replica.
	Restore(r io.Reader) error
}

// Merger is an [Application] that can merge states. It is needed unless
// [failaware.BroadcastConfig.RequireQuorum] is set.
type Merger interface {
	// Merge replaces the state by the merger of branches, and depends on nothing else: all
	// members get the same branches, in the same order. An error ends the replica.
	Merge(branches []Branch) error
}

// Hasher is an [Application] whose state has a hash, which [Config.HashEvery] needs.
type Hasher interface {
	// Hash returns a number that is equal for equal states.
	Hash() uint64
}

// Recognizer is an [Application] whose commands differ between the attempts of one operation
// of a [Session], because they contain the time of submission, for example. Without it, the
// commands of all attempts must be equal.
type Recognizer interface {
	// Recognize returns a number that depends on nothing but the command. It is the same for
	// all attempts of an operation, and most likely another one for other operations.
	Recognize(command []byte) uint64
}

// Operation is a command in its place among the others, the same at all members that
// apply it.
type Operation struct {
	// ID names the message in which the command came. Its Sender submitted the command.
	ID failaware.MessageID
	// Command is the submitted command. It may be kept, and must not be changed.
	Command []byte
	// Stamp is the group time of submission, wrong by at most Deviation, which is
	// [clocksync.UnknownBound] when the clock was not synchronized.
	Stamp     failaware.GroupTime
	Deviation time.Duration
}

// Branch is one of the states that are merged when parts of a group meet.
type Branch struct {
	// Members are the nodes that had this state.
	Members failaware.Set
	// State reads the snapshot that one of them wrote.
	State io.Reader
}

// ErrSnapshotTooLarge says that a snapshot is larger than [Config.MaxSnapshot], of an own state
// ([Refused]) or of one that this node needs from others ([TooLarge]).
var ErrSnapshotTooLarge = replica.ErrSnapshotTooLarge

// checkApplication returns an error if an application lacks a method that it needs.
func checkApplication(app Application, c *replica.Config, quorate bool) error {
	if app == nil {
		return errors.New("replicate: there is no application: it is nil")
	}
	if _, ok := app.(Merger); !ok && !quorate {
		return errors.New("replicate: the application has no method Merge, which it needs without Broadcast.RequireQuorum: parts of a split group go on, and meet again")
	}
	if _, ok := app.(Hasher); !ok && c.HashEvery > 0 {
		return fmt.Errorf("replicate: invalid Config: %w", engine.ErrNoHasher)
	}
	return nil
}
