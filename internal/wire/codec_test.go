package wire

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

func TestEveryKindOfPacketSurvivesTheWire(t *testing.T) {
	var e Encoder
	var d Decoder
	got := renewalPacket() // its old content must not matter
	for name, p := range samples() {
		b, err := e.Append([]byte("before"), &p)
		require.NoError(t, err, name)
		require.Equal(t, "before", string(b[:6]), name)
		require.LessOrEqual(t, len(b)-6, MaxPacket, name)
		require.NoError(t, d.Decode(b[6:], &got), name)
		require.Equal(t, p, got, name)
	}
}

func TestRandomPacketsSurviveTheWire(t *testing.T) {
	var d Decoder
	e := Encoder{MaxPacket: 1 << 16}
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t)
		b, err := e.Append(nil, &p)
		require.NoError(t, err)
		var got Packet
		require.NoError(t, d.Decode(b, &got))
		require.Equal(t, p, got)
	})
}

func TestATruncatedPacketIsRefusedUnlessWholeFramesAreLeft(t *testing.T) {
	var e Encoder
	var d Decoder
	for name, p := range samples() {
		b, err := e.Append(nil, &p)
		require.NoError(t, err)
		for n := range b {
			var got Packet
			if err := d.Decode(b[:n], &got); err == nil {
				// Truncated between frames: the remaining frames are right.
				require.Zero(t, got.Frames&^p.Frames, name)
				require.Equal(t, p.State, got.State, name)
			} else {
				require.Equal(t, Packet{}, got, name)
			}
		}
		var got Packet
		require.Error(t, d.Decode(append(b, 0), &got), name)
		require.Error(t, d.Decode(append(b, typeHello, 0, 1, 0x90), &got), name)
	}
}

func replyOfNobody() *Collated {
	return &Collated{Leader: incarnationOf(1), Number: 5, Replies: []Relayed{{Reply: leader.Reply{Number: 5}}}}
}

func TestValuesOutOfRangeAreNotEncoded(t *testing.T) { valuesAreChecked(t) }

func valuesAreChecked(t testing.TB) {
	view := func(change func(*membership.View)) func(*Packet) {
		return func(p *Packet) { change(p.Part.View) }
	}
	for name, c := range map[string]struct {
		packet Packet
		change func(*Packet)
		err    error
	}{
		"frame that does not exist":   {basePacket(), func(p *Packet) { p.Frames = frameEnd }, ErrUnknownFrame},
		"epoch without a state":       {basePacket(), func(p *Packet) { p.Frames = FrameEpoch }, ErrEpoch},
		"epoch that cannot be":        {basePacket(), func(p *Packet) { p.Frames, p.Epoch = FrameEpoch, &epoch.State{Epoch: 1} }, ErrEpoch},
		"members of nobody":           {basePacket(), func(p *Packet) { p.Frames = FrameMembers }, ErrLength},
		"too many members":            {basePacket(), func(p *Packet) { p.Frames, p.Members = FrameMembers, make([]Member, MaxMembers+1) }, ErrLength},
		"a member without an address": {basePacket(), func(p *Packet) { p.Frames, p.Members = FrameMembers, []Member{{Node: 1}} }, ErrRange},
		"a member that nobody is":     {basePacket(), func(p *Packet) { p.Frames, p.Members = FrameMembers, []Member{{Addr: someAddr}} }, ErrRange},
		"negative drift":              {basePacket(), func(p *Packet) { p.MaxDrift = -1 }, ErrRange},
		"drift above the limit":       {basePacket(), func(p *Packet) { p.MaxDrift = timed.MaxDrift + 1 }, ErrRange},
		"negative duration":           {basePacket(), func(p *Packet) { p.FastThreshold = -1 }, ErrRange},
		"duration above the limit":    {basePacket(), func(p *Packet) { p.State.MaxLock = timed.MaxDuration + 1 }, ErrRange},
		"half an incarnation":         {basePacket(), func(p *Packet) { p.State.LockedTo.Boot = 0 }, ErrRange},
		"negative instant":            {requestPacket(), func(p *Packet) { p.Request.Number = -1 }, ErrRange},
		"instant above the limit":     {renewalPacket(), func(p *Packet) { p.Part.Until = timed.Never }, ErrRange},
		"no view to renew":            {renewalPacket(), func(p *Packet) { p.Part.ID = membership.ViewID{} }, ErrRange},
		"answered after the lease":    {renewalPacket(), func(p *Packet) { p.Part.Answered = p.Part.Until + 1 }, ErrRange},
		"view in a renewal":           {renewalPacket(), func(p *Packet) { p.Part.View = viewWith(41, 1, nil) }, ErrView},
		"unknown part":                {renewalPacket(), func(p *Packet) { p.Part.Kind = 4 }, ErrRange},
		"leftovers without a part":    {renewalPacket(), func(p *Packet) { p.Part.Kind = membership.NoPart }, ErrRange},
		"sequence above the limit":    {replyPacket(), func(p *Packet) { p.Report.Sequence = membership.MaxSequence + 1 }, ErrRange},
		"view id without a leader":    {replyPacket(), func(p *Packet) { p.Report.Installed.Leader = 0 }, ErrRange},
		"view id without a boot id":   {replyPacket(), func(p *Packet) { p.Report.Installed.Boot = 0 }, ErrRange},
		"view id without a sequence":  {replyPacket(), func(p *Packet) { p.Report.Installed.Sequence = 0 }, ErrRange},
		"no timeline":                 {renewalPacket(), func(p *Packet) { p.Line.Timeline.Leader = 0 }, ErrRange},
		"rate above the limit":        {renewalPacket(), func(p *Packet) { p.Line.Rate = 1_000_001 }, ErrRange},
		"group time above the limit":  {renewalPacket(), func(p *Packet) { p.Line.Shown = maxShown + 1 }, ErrRange},
		"proposal without a view":     {proposePacket(2), func(p *Packet) { p.Part.View = nil }, ErrView},
		"proposal with a lease":       {proposePacket(2), func(p *Packet) { p.Part.Until = 1 }, ErrRange},
		"proposal with an answer":     {proposePacket(2), func(p *Packet) { p.Part.Answered = 1 }, ErrRange},
		"commit with an answer":       {commitPacket(2, nil), func(p *Packet) { p.Part.Answered = 1 }, ErrRange},
		"proposal with a lineage":     {proposePacket(2), view(func(v *membership.View) { v.Members[1].Previous = viewOf(1, 1) }), ErrView},
		"a collated reply of nobody":  {basePacket(), func(p *Packet) { p.Frames, p.Collated = FrameCollated, replyOfNobody() }, ErrRange},
		"view of another id":          {commitPacket(2, nil), view(func(v *membership.View) { v.ID.Sequence++ }), ErrView},
		"view without members":        {commitPacket(2, nil), view(func(v *membership.View) { v.Members, v.Set = nil, timed.Set{} }), ErrView},
		"set that differs":            {commitPacket(2, nil), view(func(v *membership.View) { v.Set.Add(9) }), ErrView},
		"leader that is no member":    {commitPacket(2, nil), view(func(v *membership.View) { v.Members[0].Boot++ }), ErrView},
		"member without a boot id":    {commitPacket(2, nil), view(func(v *membership.View) { v.Members[1].Boot = 0 }), ErrView},
		"member twice":                {commitPacket(2, nil), view(func(v *membership.View) { v.Members[1].Node = 1 }), ErrView},
		"member twice besides others": {commitPacket(2, nil), view(func(v *membership.View) { v.Members = append(v.Members, v.Members[1]) }), ErrView},
		"lineage that is half a view": {commitPacket(2, nil), view(func(v *membership.View) { v.Members[1].Previous.Boot = 1 }), ErrRange},
	} {
		c.change(&c.packet)
		var e Encoder
		b, err := e.Append([]byte{1}, &c.packet)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, []byte{1}, b, name)
		var frame *FrameError
		require.ErrorAs(t, err, &frame, name)
		require.NotEmpty(t, frame.Error())
	}
}

// message encodes values of any kind with the library.
func message(t testing.TB, values ...any) []byte {
	b, err := msgpack.Marshal(append([]any{}, values...))
	require.NoError(t, err)
	return b
}

// framed returns a packet of a header, the hello of a keepalive, and one frame.
func framed(t testing.TB, kind byte, msg []byte) []byte { return behind(t, basePacket(), kind, msg) }

// behind returns a packet with one more frame.
func behind(t testing.TB, p Packet, kind byte, msg []byte) []byte {
	var e Encoder
	b, err := e.Append(nil, &p)
	require.NoError(t, err)
	return checked(append(append(b, kind, byte(len(msg)>>8), byte(len(msg))), msg...))
}

// checked writes the right checksum into an unsealed packet and returns the packet.
func checked(b []byte) []byte {
	putWholeChecksum(b)
	return b
}

// hostileMessage is a message that a decoder refuses with err.
type hostileMessage struct {
	kind byte
	msg  []byte
	err  error
}

func TestHostileMessagesAreRefused(t *testing.T) { hostileAreRefused(t) }

func hostileAreRefused(t testing.TB) {
	all := hostileTrees(t)
	maps.Copy(all, hostileValues(t))
	maps.Copy(all, hostileViews(t))
	for name, c := range all {
		var d Decoder
		p := replyPacket()
		err := d.Decode(framed(t, c.kind, c.msg), &p)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, Packet{}, p, name)
		var frame *FrameError
		require.ErrorAs(t, err, &frame)
		require.Equal(t, c.kind, frame.Frame, name)
	}
}

// hostileTrees are messages of trees, collated replies and epochs.
func hostileTrees(t testing.TB) map[string]hostileMessage {
	again := []any{4, 4}
	whole := []any{4, 4, 9, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	return map[string]hostileMessage{
		"unknown type":               {typeEnd, []byte{0x90}, ErrUnknownFrame},
		"tree without a request":     {typeTree, message(t, 2, 6, 0, 0, 0), ErrRange},
		"tree of three words":        {typeTree, message(t, 2, 0, 0, 6), ErrLength},
		"replies of no node":         {typeCollated, message(t, 1, 5, 9, []any{}), ErrLength},
		"replies to no node":         {typeCollated, message(t, 0, 5, 9, []any{again}), ErrRange},
		"a first reply like another": {typeCollated, message(t, 1, 5, 9, []any{again}), ErrLength},
		"a reply to another request": {typeCollated, message(t, 1, 5, 8, []any{whole}), ErrRange},
		"a reply of no node":         {typeCollated, message(t, 1, 5, 9, []any{append([]any{0}, whole[1:]...)}), ErrRange},
		"a reply that is too long":   {typeCollated, message(t, 1, 5, 9, []any{append(slices.Clone(whole), 1)}), ErrLength},
		"an epoch of no state":       {typeEpoch, message(t, []byte{1, 0}), ErrEpoch},
		"an epoch of a string":       {typeEpoch, message(t, "x"), ErrType},
	}
}

// hostileValues are messages with values of wrong types, lengths and ranges.
func hostileValues(t testing.TB) map[string]hostileMessage {
	boot := uint64(bootOf(1))
	return map[string]hostileMessage{
		"type zero":                      {0, []byte{0x90}, ErrUnknownFrame},
		"second hello":                   {typeHello, []byte{0x90}, ErrFrameOrder},
		"no message":                     {typeLeaving, nil, ErrTruncated},
		"something behind the message":   {typeLeaving, []byte{0x91, 0xc2, 0xc0}, ErrTrailing},
		"nil instead of an array":        {typeLeaving, []byte{0xc0}, ErrType},
		"map instead of an array":        {typeLeaving, []byte{0x80}, ErrType},
		"longer array":                   {typeRelease, message(t, 1, 1), ErrLength},
		"shorter array":                  {typeRelease, message(t), ErrLength},
		"array of gigabytes":             {typeRelease, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}, ErrLength},
		"length that is cut":             {typeRelease, []byte{0xdc, 0}, ErrTruncated},
		"nil for a number":               {typeRelease, []byte{0x91, 0xc0}, ErrType},
		"true for a number":              {typeRelease, []byte{0x91, 0xc3}, ErrType},
		"float for a number":             {typeRelease, message(t, 1.0), ErrType},
		"string for a number":            {typeRelease, message(t, "1"), ErrType},
		"bytes for a number":             {typeRelease, message(t, []byte{1}), ErrType},
		"array for a number":             {typeRelease, message(t, []any{1}), ErrType},
		"extension for a number":         {typeRelease, []byte{0x91, 0xd4, 1, 1}, ErrType},
		"code that is never used":        {typeRelease, []byte{0x91, 0xc1}, ErrType},
		"number that is cut":             {typeRelease, []byte{0x91, 0xcf, 1, 2, 3}, ErrTruncated},
		"code without its number":        {typeRelease, []byte{0x91, 0xcc}, ErrTruncated},
		"negative number":                {typeRelease, message(t, int64(-1)), ErrRange},
		"number that wraps to -1":        {typeRelease, message(t, uint64(1<<64-1)), ErrRange},
		"number that wraps to the least": {typeRelease, message(t, uint64(1<<63)), ErrRange},
		"boot id that wraps":             {typeInUse, message(t, int8(-1), 0), ErrRange},
		"boot id of -1 in 64 bits":       {typeInUse, []byte{0x92, 0xd3, 255, 255, 255, 255, 255, 255, 255, 255, 0}, ErrRange},
		"boot id of -1 in one byte":      {typeInUse, []byte{0x92, 0xff, 0}, ErrRange},
		"boot id zero":                   {typeInUse, message(t, 0, 0), ErrRange},
		"refusal without its age":        {typeInUse, message(t, 1), ErrLength},
		"refusal with a negative age":    {typeInUse, message(t, 1, int8(-1)), ErrRange},
		"leader that wraps to 1":         {typeResign, message(t, 1, 257, boot), ErrRange},
		"no view":                        {typeResign, message(t, 0, 0, 0), ErrRange},
		"number for a bool":              {typeReply, message(t, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ErrType},
		"nil for a bool":                 {typeReply, message(t, 1, nil, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ErrType},
		"part that wraps to none":        {typeRequest, message(t, 1, 1, 256), ErrRange},
		"length of another part":         {typeRequest, message(t, 1, 1, 1), ErrLength},
		"lock time above the limit":      {typeRequest, message(t, 1, int64(timed.MaxDuration)+1, 0), ErrRange},
		"timeline without a leader":      {typeLine, message(t, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1), ErrRange},
	}
}

// hostileViews are messages with impossible members.
func hostileViews(t testing.TB) map[string]hostileMessage {
	boot := uint64(bootOf(1))
	commit := func(members ...any) []byte { return message(t, 1, 1, 3, 7, 1, boot, 9, append([]any{}, members...)) }
	return map[string]hostileMessage{
		"no members":                {typeRequest, commit(), ErrLength},
		"members of a string":       {typeRequest, message(t, 1, 1, 3, 7, 1, boot, 9, "x"), ErrType},
		"256 members":               {typeRequest, append(message(t, 1, 1, 3, 7, 1, boot, 9), 0), ErrLength},
		"more members than bytes":   {typeRequest, manyMembers(t, boot), ErrTruncated},
		"members out of order":      {typeRequest, commit([]any{5, boot}, []any{1, boot}), ErrView},
		"member that wraps to 1":    {typeRequest, commit([]any{257, boot}), ErrRange},
		"member without a boot id":  {typeRequest, commit([]any{1, 0}), ErrRange},
		"member too short":          {typeRequest, commit([]any{1}, []any{5, boot}), ErrLength},
		"member too long":           {typeRequest, commit([]any{1, boot, 1, 1, boot, 1}), ErrLength},
		"lineage of a proposal":     {typeRequest, message(t, 1, 1, 2, 7, 1, boot, []any{[]any{1, boot, 0}}), ErrLength},
		"leader that is no member":  {typeRequest, commit([]any{5, boot}), ErrView},
		"lineage of no one":         {typeRequest, commit([]any{1, boot, 0, 0, 0}), ErrRange},
		"lineage of a stranger":     {typeRequest, commit([]any{1, boot, 1, 9}), ErrView},
		"member twice":              {typeRequest, commit([]any{1, boot}, []any{1, boot}), ErrView},
		"answered after the lease":  {typeRequest, message(t, 1, 1, 1, 7, 1, boot, 9, 10), ErrRange},
		"nowhere that is somewhere": {typeRequest, commit([]any{1, boot, 1}), ErrRange},
	}
}

// manyMembers announces 255 members and ends after the first.
func manyMembers(t testing.TB, boot uint64) []byte {
	b := message(t, 1, 1, 3, 7, 1, boot, 9, 0)
	return append(b[:len(b)-1], 0xdc, 0, 255, 0x92, 1, 1)
}

func TestIntegersMayBeWiderThanTheyNeedToBe(t *testing.T) {
	for _, msg := range [][]byte{
		{0x91, 5}, {0x91, 0xcc, 5}, {0x91, 0xcd, 0, 5}, {0x91, 0xce, 0, 0, 0, 5}, {0x91, 0xcf, 0, 0, 0, 0, 0, 0, 0, 5},
		{0x91, 0xd0, 5}, {0x91, 0xd1, 0, 5}, {0x91, 0xd2, 0, 0, 0, 5}, {0x91, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5},
		{0xdc, 0, 1, 5}, {0xdd, 0, 0, 0, 1, 5},
	} {
		var d Decoder
		var p Packet
		require.NoError(t, d.Decode(framed(t, typeRelease, msg), &p))
		require.Equal(t, timed.Instant(5), p.Release)
		require.NoError(t, d.Decode(framed(t, typeSuccessor, msg), &p))
		require.Equal(t, timed.NodeID(5), p.Successor)
	}
}

func TestFramesComeInOrderAndAfterAHello(t *testing.T) {
	var d Decoder
	var p Packet
	b := framed(t, typeLeaving, []byte{0x91, 0xc2})
	require.NoError(t, d.Decode(b, &p))
	require.Equal(t, FrameLeaving, p.Frames)
	for _, next := range []byte{typeLeaving, typeRelease} {
		err := d.Decode(checked(append(b, next, 0, 1, 0x90)), &p)
		require.ErrorIs(t, err, ErrFrameOrder)
	}
	head := b[: HeaderSize+checksumSize : HeaderSize+checksumSize]
	require.ErrorIs(t, d.Decode(checked(head), &p), ErrNoHello, "a packet without frames")
	alone := append(head, typeLeaving, 0, 1, 0x90)
	require.ErrorIs(t, d.Decode(checked(alone), &p), ErrNoHello)
	require.ErrorIs(t, d.Decode(b[:HeaderSize-1], &p), ErrShort)
	require.ErrorIs(t, d.Decode(head[:len(head)-1], &p), ErrShort)
	require.Equal(t, Packet{}, p)
}
