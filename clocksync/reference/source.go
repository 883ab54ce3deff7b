package reference

import (
	"context"
	"errors"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Sample is the result of one poll.
type Sample struct {
	clocksync.Sample
	// Era is that of the hardware clock throughout the question; in another one
	// the sample is void.
	Era      uint32
	Delay    time.Duration // round trip
	Distance time.Duration // largest error according to the reference
	Address  string
	Stratum  int // 0 if unknown
}

// checked returns an error if the interval of the sample is too wide.
func (s *Sample) checked() (Sample, error) {
	if !s.Valid() {
		return *s, &RejectedError{"error larger than " + clocksync.MaxError.String()}
	}
	return *s, nil
}

// source polls a reference once.
type source interface {
	poll(ctx context.Context) (Sample, error)
}

// RejectedError reports an unusable answer.
type RejectedError struct{ Reason string }

func (e *RejectedError) Error() string { return "rejected: " + e.Reason }

// isRejected reports whether a poll failed because of an unusable answer.
func isRejected(err error) bool {
	_, rejected := errors.AsType[*RejectedError](err)
	return rejected
}

var (
	errSlow      = errors.New("the server requires longer poll intervals")
	errGone      = errors.New("all addresses deny service")
	errSuspended = errors.New("the machine was suspended during the poll")
)
