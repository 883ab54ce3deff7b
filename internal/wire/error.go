package wire

import (
	"errors"
	"fmt"
)

// Errors of a [FrameError].
var (
	ErrTruncated    = errors.New("the frame ends too early")
	ErrTrailing     = errors.New("bytes follow the frame's message")
	ErrUnknownFrame = errors.New("the frame's type is unknown")
	ErrNoHello      = errors.New("the first frame is not a hello")
	ErrFrameOrder   = errors.New("the frame is repeated or out of order")
	ErrType         = errors.New("a value has the wrong type")
	ErrLength       = errors.New("an array has the wrong length")
	ErrRange        = errors.New("a value is out of range")
	ErrEpoch        = errors.New("the state of the epoch is impossible")
	ErrView         = errors.New("the view is impossible")
)

// FrameError names the frame of a body that is wrong. Err is one of the fixed
// errors of this package.
type FrameError struct {
	Frame byte // type on the wire; 0 if the body has no frames
	Err   error
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("wire: frame of type %d: %v", e.Frame, e.Err)
}

// Unwrap returns Err.
func (e *FrameError) Unwrap() error { return e.Err }

// TooLargeError reports a packet that exceeds its limit. The packet counts as
// omitted: a view of so many members cannot be agreed on until MaxPacket is raised
// at every node.
type TooLargeError struct {
	Size    int // of the packet, in bytes
	Max     int // limit, in bytes
	Members int // of the view in the packet; 0 without a view
}

func (e *TooLargeError) Error() string {
	s := fmt.Sprintf("wire: a packet of %d bytes is over the limit of %d", e.Size, e.Max)
	if e.Members > 0 {
		s += fmt.Sprintf(" (it carries a view of %d members)", e.Members)
	}
	return s
}
