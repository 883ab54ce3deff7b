// Package wire is the wire format: packets as values on one side, bytes on the
// other. [Encoder] and [Decoder] convert between the two. No other package knows
// how a packet is laid out.
//
// # Format
//
// A packet is a clear header ([AppendHeader], [ParseHeader]) and a body. The body is a
// checksum ([Finish], [Unsealed]) and a list of frames, or the sealed list. A frame is
// its type (one byte), the length of its message (two bytes, big endian) and the
// message, a MessagePack array. Frames stand in ascending order of their types, each
// type at most once. The first frame is always the hello.
//
// Unknown frames and messages of another length are errors. A version of the wire
// format is closed: two nodes, of which one skips a frame that the other obeys, no
// longer run the same protocol. An extension takes a new version, which the header
// shows before anything is decoded. A build speaks several versions, and a packet is in one
// that its receiver speaks. The header is the same in all versions up to the stamp, and the
// highest byte of its counter is the newest version that the sender speaks.
//
// Nodes of different groups decode nothing of each other but [Settings], and nodes of
// different quorum systems recognize each other by a digest. So that people learn the
// values, such nodes now and then send each other their Settings in packets of their own.
// Such a packet has one frame, of type 255 and always the same length, in place of the
// hello and all others. Earlier builds drop it.
//
// # Sizes
//
// A packet is as large as [Encoder.MaxPacket] allows, at most. [PacketFor]
// and [CheckChange] say which limit a group needs.
//
// The package is pure: it keeps no state but buffers, reads no clock, and never
// blocks.
package wire
