package wire

import (
	"errors"
	"fmt"
)

// What can be wrong with a frame.
var (
	ErrTruncated    = errors.New("it ends too early")
	ErrTrailing     = errors.New("something follows its message")
	ErrUnknownFrame = errors.New("its type is unknown")
	ErrNoHello      = errors.New("the first frame is no hello")
	ErrFrameOrder   = errors.New("it is repeated or out of order")
	ErrType         = errors.New("a value of another type was expected")
	ErrLength       = errors.New("an array of another length was expected")
	ErrRange        = errors.New("a value is out of range")
	ErrEpoch        = errors.New("its epoch is not in a state that can exist")
	ErrView         = errors.New("its view is not one that can exist")
)

// FrameError says which frame of a body is wrong. Err is one of the fixed
// errors of this package.
type FrameError struct {
	Frame byte // its type on the wire, 0 when the body has no frames
	Err   error
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("wire: frame of type %d: %v", e.Frame, e.Err)
}

// Unwrap returns what is wrong.
func (e *FrameError) Unwrap() error { return e.Err }

// TooLargeError says that a packet does not fit. It counts as an omission of
// the packet: views of so many members cannot be agreed on until MaxPacket is
// raised at every node.
type TooLargeError struct {
	Size    int // of the packet, in bytes
	Max     int
	Members int // of the view in it, if there is one
}

func (e *TooLargeError) Error() string {
	s := fmt.Sprintf("wire: a packet of %d bytes is over the limit of %d", e.Size, e.Max)
	if e.Members > 0 {
		s += fmt.Sprintf(" (it carries a view of %d members)", e.Members)
	}
	return s
}
