// Package situation names the states of simulated worlds that campaigns should reach:
// checks prove less than they seem to if the run never gets there.
package situation

// Kind is a state of a world, counted whenever a run reaches it.
type Kind uint8

// The situations that are counted.
const (
	MergedTwo              Kind = iota // a view brings two views together
	MergedMore                         // a view brings three or more together
	ViewShrank                         // a view leaves members behind
	Rejoined                           // a view has a member's new incarnation
	TwoLeaders                         // two lead at once, in different partitions
	ThreeLeaders                       // three or more do
	NobodyLeads                        // nobody leads although somebody did
	LeaseExpired                       // a lease ran out before it was renewed
	LeaseExpiredProposing              // the same, with a proposal open
	LeaderCrashed                      // a leader crashed
	LeaderCrashedProposing             // the same, with a proposal open
	AllCrashed                         // all were down
	RestartedEarly                     // a node restarted before its old votes had run out
	HandedOver                         // a leader gave up its lead on request
	StoodBack                          // a node whose leader was gone left the request to a better one
	Outranked                          // a leader gave way to one that outranks it
	ProposalOvertaken                  // a leader proposed above a sequence that others had seen
	StaleAndFresh                      // a stale view became up to date again
	ViewStale                          // a view became stale
	DeafPeer                           // a peer was heard but no longer heard this node
	SlowCame                           // a packet came too late to be fast
	OldBootCame                        // a packet of a dead incarnation came
	ChallengerCame                     // an incarnation was not accepted at once
	ClockStepped                       // group time was stepped
	ClockAdopted                       // a node followed another timeline
	ClockFaulty                        // a node was blamed for its clock
	BlamedItself                       // a node blamed itself for its clock
	Slept                              // a node noticed that its machine slept
	RivalSeen                          // a node saw that two processes have one id
	RivalStopped                       // of two processes with one id one stopped
	TwinsFound                         // a process and its clone were told to be two
	UTCExternal                        // a reading was External
	UTCDisputed                        // no majority of the servers agreed
	ServerNamed                        // a server that lies was named
	LineBent                           // group time was bent towards UTC
	RepliesCollated                    // replies of others came with one
	CollatedLate                       // they came when the round was over
	AliveByWord                        // a peer was alive by its leader's word alone
	HeldBack                           // a new incarnation was held back
	SocketBatch                        // several packets waited for a process that was stopped
	LockLowered                        // a process started that gives shorter votes than one before it
	LockCut                            // a request asked for less than its node is set to
	OlderVersion                       // a packet went in an older version than its sender speaks
	RefusedPatiently                   // a refusal named an incarnation that had been silent for longer than the refused one waits
	AllSuspended                       // all machines slept at once
	EqualReadings                      // a clock showed the same in two turns
	PeerUnlisted                       // a node forgot a peer that it heard, and learnt of it again
	CameMinutesLate                    // a packet came a minute late or later
	EqualStamps                        // two packets of a peer had one stamp
	RequestAhead                       // a request was numbered ahead of the clock, as a second one at one reading
	VoteAhead                          // a vote was stamped ahead of the clock
	ResignedUnseen                     // a resignation came before the view that it gives up
	ResignedAtOnce                     // a leader gave up its view at the reading of its last request
	RequestOvertaken                   // a request came after its sender's resignation
	CommitOvertaken                    // a view was announced after its leader's resignation had come
	LedOften                           // an incarnation led for the eighth time
	LeaderLeft                         // a leader left for good

	// Those of a broadcast.
	CastUndelivered  // a view began with own messages of the old one undelivered
	CastTransitional // a message was delivered as transitional
	CastElsewhere    // a message was ordered in another branch
	CastAsked        // a message was asked for
	CastFragment     // a fragment was asked for
	CastWindowFull   // the window was full
	CastNoQuorum     // a message was refused outside of a quorum
	CastSlow         // an application was too slow
	CastSlowLeft     // its node left
	CastMerged       // views met that had both ordered messages
	CastDeciderGone  // a decider crashed with its decision under way
	CastFlushed      // a flush brought ordered messages along
	CastRecovered    // a flush brought Unordered messages along
	CastAhead        // a stamp was too far ahead of the other clocks
	CastFormerView   // messages came that were sent in a former view
	CastFormerFlush  // a part of a former view change came
	CastFormerBoot   // messages of an earlier incarnation of a member came
	CastAbsentTwice  // an absent node had positions of two incarnations
	CastFullFrozen   // a window was full while a view changed
	CastEqualStamps  // two senders' messages had one stamp

	// Those of global leadership.
	LocalBesideGlobal // somebody leads a part of the group while another leads globally
	GlobalOutlived    // a global lease ended, and the local one did not
	AssuredBeyond     // somebody relied on an answer of a leader that leads no more

	// Those of epochs.
	EpochChanged      // a node entered an epoch
	EpochForced       // one that was forced
	EpochRepeated     // a leader proposed what another had proposed before it
	EdictAcrossEpochs // edicts of two epochs were compared
	situationEnd
)

// Count is the number of kinds.
const Count = int(situationEnd)

var situationNames = [Count]string{
	"two views merged", "three or more views merged", "a view left members behind", "a member came back in a new incarnation",
	"two led at once", "three or more led at once", "nobody led", "a lease ran out", "a lease ran out with a proposal open",
	"a leader crashed", "a leader crashed with a proposal open", "all were down", "a node restarted before its votes ended",
	"a leader handed over", "a node left the request to a better one", "a leader gave way", "a proposal was overtaken", "a stale view became fresh",
	"a view became stale", "a peer was heard but deaf", "a packet was slow", "a packet of a dead incarnation came",
	"an incarnation had to wait for its session", "group time was stepped", "a node followed another timeline", "a clock was blamed",
	"a node blamed itself", "a node noticed that it slept", "a node saw that two have one id", "one of two with an id stopped",
	"a process and its clone were told to be two",
	"a reading was external", "UTC was disputed", "a lying server was named", "group time was bent towards UTC",
	"replies came collated", "collated replies came when the round was over", "a peer was alive by its leader's word alone",
	"a new incarnation was held back", "several packets waited for a stopped process",
	"a process gave shorter votes than one before it", "a request asked for a shorter lock",
	"a packet went in an older version", "a refusal named an incarnation that was long silent", "all machines slept at once", "a clock showed the same twice",
	"a peer was off a list and on it again", "a packet came a minute late",
	"two packets had one stamp", "a request was numbered ahead of the clock", "a vote was stamped ahead of the clock",
	"a resignation came before its view", "a leader resigned at the reading of its request", "a request came after a resignation",
	"a view was announced after its resignation", "an incarnation led for the eighth time", "a leader left",
	"a view began with messages undelivered", "a delivery was transitional", "a message was ordered elsewhere",
	"a message was asked for", "a fragment was asked for", "a window was full", "a message was refused for want of a quorum",
	"an application was slow", "a slow consumer left", "views met that had both ordered messages",
	"a decider crashed with its decision under way", "a flush brought ordered messages", "a flush brought unordered messages",
	"a stamp was too far ahead",
	"messages of a former view came", "a part of a former view change came", "messages of a member's earlier incarnation came",
	"an absent node had two positions", "a window was full while a view changed", "messages of two senders had one stamp",
	"one led locally while another led globally", "a global lease ended before the local one",
	"an answer was good beyond the lead that it was about",
	"an epoch began", "a forced epoch began", "a leader repeated another's proposal", "edicts of two epochs were compared",
}

// String returns a sentence about the situation.
func (s Kind) String() string {
	if s < situationEnd {
		return situationNames[s]
	}
	return "unknown"
}
