package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// LongestDuration is the text of the longest duration, which is what longer ones become.
const LongestDuration = "2562047h47m16.854775807s"

// ErrLongDuration says that a text is a duration, and one that no program can count.
var ErrLongDuration = errors.New("it is more than " + LongestDuration + ", the longest duration")

var errNoDuration = errors.New("it is not a duration with a unit, as in 80ms")

// ParseDuration is [time.ParseDuration] with errors for people. With [ErrLongDuration] it
// returns the longest duration, or its opposite.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	positive := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
	short := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, positive)
	_, err = time.ParseDuration("0s" + short) // 0 alone would need no unit
	switch {
	case err != nil || positive == "":
		return 0, errNoDuration
	case text[0] == '-':
		return -math.MaxInt64, ErrLongDuration
	}
	return math.MaxInt64, ErrLongDuration
}

// sayForm returns the error of a value that a flag has refused with the form that it should
// have, where a parser of Go speaks of itself.
func sayForm(err *pflag.InvalidValueError) error {
	kind, cause := err.GetFlag().Value.Type(), err.Unwrap()
	form := ""
	switch {
	case kind == "duration" && strings.HasPrefix(cause.Error(), "time: "):
		_, wrong := ParseDuration(err.GetValue())
		form = wrong.Error()
	case !strings.HasPrefix(cause.Error(), "strconv."):
		return err
	case errors.Is(cause, strconv.ErrRange):
		form = "it is too far from 0"
	case kind == "bool":
		form = "it is neither true nor false"
	case strings.HasPrefix(kind, "float"):
		form = "it is not a number"
	case strings.HasPrefix(kind, "uint"):
		form = "it is not a whole number from 0 on"
	case strings.HasSuffix(kind, "Slice"):
		form = "it is not a list of whole numbers, as in 3,5"
	default:
		form = "it is not a whole number"
	}
	return errors.New(strings.TrimSuffix(err.Error(), cause.Error()) + form)
}
