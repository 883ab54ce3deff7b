package fault

// Content names a content of packets.
type Content string

// The contents.
const (
	Keepalive Content = "keepalive" // only a header
	Request   Content = "request"   // any request for votes
	Proposal  Content = "proposal"  // a request that proposes a view
	Committed Content = "commit"    // a request that commits a view
	Renewal   Content = "renewal"   // a request that renews a view
	Vote      Content = "vote"
	Refusal   Content = "refusal"
	Collated  Content = "collated replies"
	Release   Content = "release"
	Resigned  Content = "resignation" // of a leader, which ends its view
	Dropped   Content = "dropped"     // of a member, which has dropped such a view
	Question  Content = "question"
	Answer    Content = "answer"

	// Contents of a broadcast.
	Messages Content = "messages"
	Decision Content = "decision"
	Want     Content = "want" // a request for a retransmission
	Ack      Content = "acknowledgement"
	Report   Content = "report"
	Plan     Content = "plan"
	Terms    Content = "terms"
	Flushed  Content = "flushed"
)

// Contents lists all contents.
var Contents = []Content{Keepalive, Request, Proposal, Committed, Renewal, Vote, Refusal, Collated, Release, Resigned, Dropped, Question,
	Answer, Messages, Decision, Want, Ack, Report, Plan, Terms, Flushed}
