package wire

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Settings are those settings of a node that must be the same at all nodes of a group. A
// packet that has them has nothing else: they are for people, and no rule rests on them. It
// goes to nodes whose packets show that their settings differ.
type Settings struct {
	Group         string // never empty
	MaxPacket     uint32
	MaxDrift      timed.Drift
	FastThreshold time.Duration
	Broadcast     bool   // otherwise the next four are zero
	Window        uint32 // in bytes, as MaxPacket and MaxPayload are
	MaxMessages   uint32
	MaxPayload    uint32
	RequireQuorum bool
	Quorum        leader.QuorumID
	System        string // the text of the quorum system, cut behind MaxSystem bytes
}

// typeSettings is the type of the settings' frame, far from those that a version may add.
const typeSettings = 255

const (
	// maxGroup and MaxSystem bound the texts in bytes.
	maxGroup  = 255
	MaxSystem = 400

	settingsLen = 13
	// settingsBytes is the length of each settings message: the longest that there is, and
	// 256 bytes more, so that the length of the padding always takes three bytes. A node may
	// answer settings with its own: that takes no more bytes than came.
	settingsBytes = 1024
	padHead       = 3
)

// Fixed follows the text of a quorum system that orders messages and is never replaced.
const Fixed = " without StateDir"

// Fixed reports whether the quorum system of a node orders messages and is never replaced.
func (s *Settings) Fixed() bool { return strings.HasSuffix(s.System, Fixed) }

// Follows reports whether a node with the settings is in the group of others that order
// messages by the quorums of epochs, or will be as soon as it has heard of their epoch.
func (s *Settings) Follows(others *Settings) bool {
	at := *s
	at.Quorum, at.System = others.Quorum, others.System
	return at == *others && !s.Fixed()
}

// Known reports whether there are settings.
func (s *Settings) Known() bool { return s.Group != "" }

// CutSystem returns the text of a quorum system as settings have it. A text that was cut
// ends with "…", before [Fixed].
func CutSystem(text string) string {
	const mark = "…"
	if rest, fixed := strings.CutSuffix(text, Fixed); fixed {
		return CutSystem(rest) + Fixed
	}
	if len(text) <= MaxSystem-len(Fixed) {
		return text
	}
	at := MaxSystem - len(Fixed) - len(mark)
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + mark
}

// valid reports whether the texts of the settings can be shown, and are short enough.
func (s *Settings) valid() bool {
	return s.Known() && len(s.Group) <= maxGroup && len(s.System) <= MaxSystem && printable(s.System)
}

func (w *writer) settings(s *Settings) {
	w.open(typeSettings, settingsLen)
	if !s.valid() {
		w.fail(ErrRange)
		return
	}
	w.bytes([]byte(s.Group))
	w.uint(uint64(s.MaxPacket), 0, math.MaxUint32)
	w.int(int64(s.MaxDrift), 0, int64(timed.MaxDrift))
	w.duration(s.FastThreshold)
	w.bool(s.Broadcast)
	w.uint(uint64(s.Window), 0, math.MaxUint32)
	w.uint(uint64(s.MaxMessages), 0, math.MaxUint32)
	w.uint(uint64(s.MaxPayload), 0, math.MaxUint32)
	w.bool(s.RequireQuorum)
	w.uint(s.Quorum.Epoch, 0, math.MaxUint64)
	w.uint(s.Quorum.Digest, 0, math.MaxUint64)
	w.bytes([]byte(s.System))
	w.bytes(make([]byte, settingsBytes-padHead-(len(w.b)-w.head-frameHead)))
	w.close()
}

func (r *reader) settings() *Settings {
	r.array(settingsLen, settingsLen)
	number := func() uint32 { return uint32(r.uint(0, math.MaxUint32)) }
	s := &Settings{Group: string(r.bytes()), MaxPacket: number(), MaxDrift: timed.Drift(r.int(0, int64(timed.MaxDrift))), FastThreshold: r.duration(),
		Broadcast: r.bool(), Window: number(), MaxMessages: number(), MaxPayload: number(), RequireQuorum: r.bool(),
		Quorum: leader.QuorumID{Epoch: r.uint(0, math.MaxUint64), Digest: r.uint(0, math.MaxUint64)}, System: string(r.bytes())}
	_ = r.bytes() // padding
	if r.err == nil && !s.valid() {
		r.fail(ErrRange)
	}
	return s
}

// HasSettings reports whether the frames of a packet are settings.
func HasSettings(frames []byte) bool { return len(frames) > 0 && frames[0] == typeSettings }
