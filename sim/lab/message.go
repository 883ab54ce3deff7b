package lab

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// Kind is the kind of a message.
type Kind uint8

// The messages of all algorithms. The comments list their fields.
const (
	KindNone Kind = iota

	RingElection // Candidate, Initiator, Hops
	RingElected  // Candidate, Initiator, Hops

	BullyElection
	BullyAnswer
	BullyCoordinator

	AreYouCoordinator
	CoordinatorReply // Yes
	Invite           // Candidate: the new leader; Group
	Accept           // Group
	AcceptReply      // Group, Yes
	Ready            // Group, Members
	ReadyReply       // Group
	AreYouThere      // Group
	ThereReply       // Group, Yes

	VoteRequest // Start, Span; Yes: of a master
	VoteGranted // Start
	MasterIs

	GrantRequest // Start, Span
	GrantOK      // Start
	GrantRelease // Start

	Ping // Start
	Pong // Start
	Heartbeat
	Keepalive // Header

	kinds
)

var kindNames = [kinds]string{RingElection: "election", RingElected: "elected", BullyElection: "election", BullyAnswer: "answer",
	BullyCoordinator: "coordinator", AreYouCoordinator: "coordinator?", CoordinatorReply: "reply", Invite: "invitation", Accept: "accept",
	AcceptReply: "answer", Ready: "ready", ReadyReply: "answer", AreYouThere: "there?", ThereReply: "reply", VoteRequest: "vote?",
	VoteGranted: "vote", MasterIs: "master", GrantRequest: "grant?", GrantOK: "ok", GrantRelease: "release",
	Ping: "ping", Pong: "pong", Heartbeat: "heartbeat", Keepalive: "keepalive"}

// String returns the name of the kind in pictures.
func (k Kind) String() string {
	if k == KindNone || k >= kinds {
		return "unknown"
	}
	return kindNames[k]
}

// detects reports whether the kind belongs to a failure detector.
func (k Kind) detects() bool { return k >= Ping }

// Message is a message between processes. Fields that its kind does not use are zero.
type Message struct {
	Kind      Kind
	Candidate timed.NodeID // the leader, or the candidate
	Initiator timed.NodeID // the process that called for the election
	Hops      uint8        // the number of times it was passed on
	Yes       bool         // the answer, or the vote, is positive
	Group     Group
	Start     timed.Instant // of the sender's attempt, on its clock
	Span      time.Duration // the time for which votes are requested
	Members   timed.Set
	Header    datagram.Header
}

const fixedSize = 5 + 9 + 8 + 8 + 1

var errMessage = errors.New("lab: not a message")

// Append appends the message in the form of [ParseMessage].
func (m *Message) Append(b []byte) []byte {
	yes := byte(0)
	if m.Yes {
		yes = 1
	}
	b = append(b, byte(m.Kind), byte(m.Candidate), byte(m.Initiator), m.Hops, yes, byte(m.Group.Leader))
	b = binary.BigEndian.AppendUint64(b, m.Group.Number)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Start))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Span))
	b = append(b, byte(m.Members.Len()))
	for id := range m.Members.All() {
		b = append(b, byte(id))
	}
	if m.Kind == Keepalive {
		b = wire.AppendHeader(b, &m.Header)
	}
	return b
}

// ParseMessage reads the output of [Message.Append].
func ParseMessage(b []byte) (m Message, err error) {
	if len(b) < fixedSize || Kind(b[0]) >= kinds || b[0] == 0 || b[4] > 1 {
		return Message{}, errMessage
	}
	m = Message{Kind: Kind(b[0]), Candidate: timed.NodeID(b[1]), Initiator: timed.NodeID(b[2]), Hops: b[3], Yes: b[4] == 1,
		Group: Group{timed.NodeID(b[5]), binary.BigEndian.Uint64(b[6:])}, Start: timed.Instant(binary.BigEndian.Uint64(b[14:])),
		Span: time.Duration(binary.BigEndian.Uint64(b[22:]))}
	n := int(b[30])
	if b = b[fixedSize:]; len(b) < n {
		return Message{}, errMessage
	}
	for _, id := range b[:n] {
		m.Members.Add(timed.NodeID(id))
	}
	b = b[n:]
	if m.Kind == Keepalive {
		m.Header, b, err = wire.ParseHeader(b)
	}
	if err != nil || len(b) != 0 {
		return Message{}, errMessage
	}
	return m, nil
}
