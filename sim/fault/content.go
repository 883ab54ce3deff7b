package fault

// Content names what a packet says.
type Content string

// The contents.
const (
	Keepalive Content = "keepalive" // nothing but its header
	Request   Content = "request"   // a request for votes, with what it says of views
	Proposal  Content = "proposal"  // a request that proposes a view
	Committed Content = "commit"    // a request that commits one
	Renewal   Content = "renewal"   // a request that renews one
	Vote      Content = "vote"
	Refusal   Content = "refusal"
	Collated  Content = "collated replies"
	Release   Content = "release"
	Resigned  Content = "resignation" // of a leader, whose view ends
	Dropped   Content = "dropped"     // a member has dropped such a view
	Question  Content = "question"
	Answer    Content = "answer"

	// Those of a broadcast.
	Messages Content = "messages"
	Decision Content = "decision"
	Want     Content = "want" // a request for what is missing
	Ack      Content = "acknowledgement"
	Report   Content = "report"
	Plan     Content = "plan"
	Terms    Content = "terms"
	Flushed  Content = "flushed"
)

// Contents lists all contents.
var Contents = []Content{Keepalive, Request, Proposal, Committed, Renewal, Vote, Refusal, Collated, Release, Resigned, Dropped, Question,
	Answer, Messages, Decision, Want, Ack, Report, Plan, Terms, Flushed}
