package wire

// Types of frames on the wire, in the order in which they stand in a packet.
const (
	typeHello     = 1
	typeInUse     = 2
	typeRelease   = 3
	typeResign    = 4
	typeDropped   = 5
	typeRequest   = 6
	typeLine      = 7
	typeReply     = 8
	typeLeaving   = 9
	typeUTC       = 10
	typeSamples   = 11
	typeQuorum    = 12
	typeStamp     = 13
	typeQuestion  = 14
	typeAnswer    = 15
	typeSuccessor = 16
	typeTree      = 17
	typeCollated  = 18
	typeEpoch     = 19
	typeMembers   = 20
	typeLabels    = 21
	typeUsed      = 22
	// The broadcast frame is the last, so that all members can share one encoding
	// of it (Encoder.AppendBefore).
	typeBroadcast = 23
	typeEnd       = typeBroadcast + 1
)

const (
	frameHead  = 3         // bytes of a frame before its message: type and length
	maxMessage = 1<<16 - 1 // bytes of a message
)

// frameBit returns the bit of [Frames] for a type other than the hello.
func frameBit(kind byte) Frames { return 1 << (kind - typeInUse) }
