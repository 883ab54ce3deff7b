package reference

import (
	"context"
	"errors"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Sample is what a reference said, and about itself.
type Sample struct {
	clocksync.Sample
	// Epoch is that of the hardware clock throughout the question; in another one
	// the sample is void.
	Epoch    uint32
	Delay    time.Duration // of the question and the answer together
	Distance time.Duration // the reference's own largest error
	Address  string
	Stratum  int // 0: not known
}

// source asks a reference once.
type source interface {
	ask(ctx context.Context) (Sample, error)
}

// RejectedError is an answer that is of no use.
type RejectedError struct{ Reason string }

func (e *RejectedError) Error() string { return "rejected: " + e.Reason }

// errSlow asks for longer intervals; errGone says that there is nobody left to
// ask.
var (
	errSlow = errors.New("the server is asked too often")
	errGone = errors.New("no address is left that has not refused service")
	// errSlept says that the machine slept between question and answer.
	errSlept = errors.New("the machine slept")
)
