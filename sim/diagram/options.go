package diagram

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Limits of what can be drawn, and of what can still be read.
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
	// MaxScale bounds the pixels per unit of a PNG.
	MaxScale = 8
	// MaxPixels bounds the size of a PNG; drawing takes eight bytes for each.
	MaxPixels = 64 << 20
	// MaxTime bounds times on either side of zero, so that spans cannot overflow.
	MaxTime = time.Duration(1) << 61
)

// Format is a kind of file.
type Format int

// The formats.
const (
	SVG Format = iota
	PNG
)

var formatNames = [...]string{"svg", "png"}

// String returns the name of the format, which is also the extension of its files.
func (f Format) String() string { return nameOf(formatNames[:], int(f)) }

// FormatOf returns the format that the extension of a file's name asks for, in
// upper or lower case.
func FormatOf(path string) (Format, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	for i, name := range formatNames {
		if ext == name {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("diagram: the name %q must end in .%s", path, strings.Join(formatNames[:], " or ."))
}

// Options choose what is drawn of a Run, and how. The zero value draws all of
// it as SVG.
type Options struct {
	Format Format
	// Width is that of the picture in units of 1/96 inch. Zero chooses one in
	// which the shorter bars can be seen and messages stand apart, within reason.
	Width int
	// From and To bound the time drawn; both zero means that of the Run.
	From, To time.Duration
	// HideKeepalives leaves out keepalives; the picture says how many.
	HideKeepalives bool
	// MaxMessages replaces the constant of that name unless zero.
	MaxMessages int
	// Scale is the number of pixels per unit in a PNG; zero means 2, for sharp
	// text on dense displays.
	Scale int
}
