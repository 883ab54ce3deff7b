package diagram

import (
	"time"
)

// Limits of drawing and of legibility.
const (
	// MaxNodes is the largest number of lanes.
	MaxNodes = 64
	// MaxMessages is how many messages are drawn unless Options say otherwise.
	MaxMessages = 2000
	// MaxLabelledMessages is the largest number of messages with which a picture
	// still shows their labels.
	MaxLabelledMessages = 60
	// MaxLabel is the number of characters after which a text is cut.
	MaxLabel = 300
	// MinWidth and MaxWidth bound the width of a picture, in units of 1/96 inch.
	MinWidth, MaxWidth = 480, 16384
	// MaxTime bounds times on either side of zero, so that spans cannot overflow.
	MaxTime = time.Duration(1) << 61
)

// Options choose the part of a Run to draw, and its looks. The zero value draws all of it.
type Options struct {
	// Width is that of the picture in units of 1/96 inch. Zero chooses one in
	// which the shorter bars can be seen and messages stand apart, within reason.
	Width int
	// From and To bound the time drawn; both zero means that of the Run.
	From, To time.Duration
	// HideKeepalives leaves out keepalives; the picture has their number.
	HideKeepalives bool
	// MaxMessages replaces the constant of that name unless zero.
	MaxMessages int
}
