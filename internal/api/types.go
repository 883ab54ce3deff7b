package api

import "time"

// Durations are integers of nanoseconds, in fields that end in _ns. Node ids are
// numbers, and 0 means none. Boot ids are 16 hexadecimal digits.

// Leader is the answer of /v1/leader.
type Leader struct {
	Leader   int    `json:"leader"`
	Name     string `json:"leader_name,omitempty"` // of Leader
	Boot     string `json:"boot,omitempty"`
	Leads    bool   `json:"leads"`
	UpToDate bool   `json:"up_to_date"`
	AtMostNS int64  `json:"at_most_ns"` // after the instant AsOfNS
	AsOfNS   int64  `json:"as_of_ns"`   // the hardware clock
	SinceNS  int64  `json:"since_ns"`   // the hardware clock when this lead began
	Support  []int  `json:"support"`
}

// View is the answer of /v1/view.
type View struct {
	ID         string   `json:"id,omitempty"`
	Sequence   uint64   `json:"sequence"`
	Leader     int      `json:"leader"`
	LeaderBoot string   `json:"leader_boot,omitempty"`
	Members    []Member `json:"members"`
	UpToDate   bool     `json:"up_to_date"`
	AtMostNS   int64    `json:"at_most_ns"`
	AsOfNS     int64    `json:"as_of_ns"`
}

// Member is one incarnation in a view.
type Member struct {
	Node     int    `json:"node"`
	Boot     string `json:"boot"`
	Previous string `json:"previous,omitempty"` // the view that it came from
}

// Clock is the answer of /v1/clock.
type Clock struct {
	TimeNS      int64  `json:"time_ns"` // since the Unix epoch
	Time        string `json:"time"`    // the same in RFC 3339, for people
	DeviationNS *int64 `json:"deviation_ns"`
	UTCBoundNS  *int64 `json:"utc_bound_ns"`
	Status      string `json:"status"`
	Timeline    string `json:"timeline,omitempty"`
	Holdover    bool   `json:"holdover"`
	Leap        string `json:"leap"`
	UTCProblem  string `json:"utc_problem,omitempty"` // why it is not external although some node asks references
	UpToDate    bool   `json:"up_to_date"`
	ValidForNS  int64  `json:"valid_for_ns"`
	Problem     string `json:"problem,omitempty"` // why it is not synchronized, if that is a setting
}

// Members is the answer of /v1/members: the node's knowledge of itself and its peers.
type Members struct {
	Node    int          `json:"node"`
	Leader  Leader       `json:"leader"`
	View    View         `json:"view"`
	Clock   Clock        `json:"clock"`
	AgeNS   int64        `json:"age_ns"` // of Members; -1 if unknown
	Members []MemberInfo `json:"members"`
}

// MemberInfo is a node's knowledge of one node.
type MemberInfo struct {
	Node int    `json:"node"`
	Name string `json:"name"`
	// Tags are what the node says of itself, as Name is.
	Tags    map[string]string `json:"tags,omitempty"`
	Self    bool              `json:"self"`
	Boot    string            `json:"boot,omitempty"`
	Address string            `json:"address,omitempty"`
	Listed  string            `json:"listed,omitempty"`
	Problem string            `json:"problem,omitempty"`
	// Mismatch names the settings because of which its packets are ignored.
	Mismatch string `json:"mismatch,omitempty"`
	// Refused says why packets from its listed address do not count.
	Refused string `json:"refused,omitempty"`
	// Incompatible says that they count again only when the keys or the build of a node change.
	Incompatible bool `json:"incompatible,omitempty"`
	Alive        bool `json:"alive"`
	InView       bool `json:"in_view"`
	// Leads says that this node supports it as its leader, up to date.
	Leads bool `json:"leads"`
	// SaysLeads says that it claimed to lead in its last packet, which proves
	// nothing.
	SaysLeads    bool   `json:"says_leads"`
	Fault        bool   `json:"clock_fault"`
	Late         bool   `json:"late"`     // it acts later than it should, as it reports
	DelayNS      *int64 `json:"delay_ns"` // proven bound of its last packet
	Fast         bool   `json:"fast"`
	LastFastNS   *int64 `json:"last_fast_ns"` // ago
	Deaf         bool   `json:"deaf"`         // it is heard in time, and does not hear this node
	Refuses      bool   `json:"refuses"`      // it takes another process for this node
	OffsetLowNS  *int64 `json:"offset_low_ns"`
	OffsetHighNS *int64 `json:"offset_high_ns"`
	Support      int    `json:"support"`
	Weight       int    `json:"weight"`
	LockedTo     int    `json:"locked_to"`
	// LaggingNS is for how long the broadcast has waited for it with no progress, and MissingNS
	// for how long messages of it have not come to this node.
	LaggingNS int64 `json:"lagging_ns,omitempty"`
	MissingNS int64 `json:"missing_ns,omitempty"`
	// Ignored says in a few words why its packets are ignored.
	Ignored string `json:"ignored,omitempty"`
	// Unsent says why packets to it cannot be sent.
	Unsent string `json:"unsent,omitempty"`
	// Forgot says that it has lost its state directory, or has an older copy.
	Forgot bool `json:"forgot,omitempty"`
	// Foreign says how its quorum system differs, if it is alive.
	Foreign string `json:"foreign,omitempty"`
}

// Status is the answer of /v1/status.
type Status struct {
	Version      string            `json:"version"`
	PID          int               `json:"pid"`
	Node         int               `json:"node"`
	Name         string            `json:"name"`
	Tags         map[string]string `json:"tags,omitempty"`
	Group        string            `json:"group"`
	Address      string            `json:"address"`
	Boot         string            `json:"boot"`
	Incarnations int               `json:"incarnations"`
	Ready        bool              `json:"ready"`
	Leaving      bool              `json:"leaving"`
	Waiting      string            `json:"waiting,omitempty"`
	Stopped      bool              `json:"stopped"`
	Awake        bool              `json:"awake"`
	Error        string            `json:"error,omitempty"`
	AgeNS        int64             `json:"age_ns"`
	Alive        []int             `json:"alive"`
	Leader       Leader            `json:"leader"`
	Global       Global            `json:"global"`
	View         View              `json:"view"`
	Clock        Clock             `json:"clock"`
	Members      []MemberInfo      `json:"members"`
	Join         []Join            `json:"join"`
	Bounds       Bounds            `json:"bounds"`
	Timing       Timing            `json:"timing"`
	Lateness     Lateness          `json:"lateness"`
	Counters     map[string]uint64 `json:"counters"`
	Store        bool              `json:"store,omitempty"` // the node has a key-value store
}

// Join is what one of the places has led to at which members may be found.
type Join struct {
	Source    string   `json:"source"`
	Addresses []string `json:"addresses"`
	Problem   string   `json:"problem,omitempty"`
	Self      bool     `json:"self,omitempty"`   // they are only this node's own
	Unsent    string   `json:"unsent,omitempty"` // why packets to one of them cannot be sent
}

// Bounds are the times that the timing guarantees.
type Bounds struct {
	ReadyNS  int64 `json:"ready_ns"`
	NoticeNS int64 `json:"notice_ns"`
	DeposeNS int64 `json:"depose_ns"`
	ElectNS  int64 `json:"elect_ns"`
	ViewNS   int64 `json:"view_ns"`
	RejoinNS int64 `json:"rejoin_ns"`
}

// Timing are the constants of the model.
type Timing struct {
	MaxDriftPPB       int64 `json:"max_drift_ppb"`
	OneWayTimeoutNS   int64 `json:"one_way_timeout_ns"`
	FastThresholdNS   int64 `json:"fast_threshold_ns"`
	MinDelayNS        int64 `json:"min_delay_ns"`
	SchedulingDelayNS int64 `json:"scheduling_delay_ns"`
	ElectionPeriodNS  int64 `json:"election_period_ns"`
	KeepalivePeriodNS int64 `json:"keepalive_period_ns"`
	ExpiresNS         int64 `json:"expires_ns"`
	LockTimeNS        int64 `json:"lock_time_ns"`
	MaxLockTimeNS     int64 `json:"max_lock_time_ns"`
}

// Lateness says how late the node's loop ran.
type Lateness struct {
	MaxNS     int64  `json:"max_ns"`
	AverageNS int64  `json:"average_ns"`
	LastNS    int64  `json:"last_ns"`
	Timers    uint64 `json:"timers"`
	Late      uint64 `json:"late"`
}

// Event is one event of the stream /v1/events. The kind determines which optional
// fields are present.
type Event struct {
	ID       string    `json:"id"` // for resuming; larger in the same run of the node
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"` // the wall clock, for people
	Node     int       `json:"node"` // the node of the event
	Kind     string    `json:"kind"`
	Text     string    `json:"text"`

	Peer         int      `json:"peer,omitempty"`
	Address      string   `json:"address,omitempty"`
	By           int      `json:"by,omitempty"` // the node whose message or silence caused it
	Leader       *int     `json:"leader,omitempty"`
	Boot         string   `json:"boot,omitempty"`
	PreviousBoot string   `json:"previous_boot,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	View         string   `json:"view,omitempty"`
	PreviousView string   `json:"previous_view,omitempty"`
	Members      []Member `json:"members,omitempty"`
	Transitional []int    `json:"transitional,omitempty"`
	Merged       []Branch `json:"merged,omitempty"`
	Timeline     string   `json:"timeline,omitempty"`
	Parent       string   `json:"parent,omitempty"`
	StepNS       *int64   `json:"step_ns,omitempty"`
	BoundNS      *int64   `json:"bound_ns,omitempty"`
	SilentForNS  *int64   `json:"silent_for_ns,omitempty"`
	State        string   `json:"state,omitempty"`    // of UTC
	Source       string   `json:"source,omitempty"`   // a reference
	Name         string   `json:"name,omitempty"`     // of the reference, if known
	Deaf         bool     `json:"deaf,omitempty"`     // the peer does not hear this node, which hears the peer
	ForGood      bool     `json:"for_good,omitempty"` // the peer that leaves will not come back
	Count        uint64   `json:"count,omitempty"`
}

// Branch is one of the previous views whose members meet in a view.
type Branch struct {
	From    string `json:"from,omitempty"`
	Members []int  `json:"members"`
}

// Sent is the answer of POST /v1/broadcast. The fields other than ID are set only with
// ?wait=true, when the node has delivered the message.
type Sent struct {
	ID           string `json:"id"`
	Delivered    bool   `json:"delivered"`
	View         string `json:"view,omitempty"`
	Position     uint64 `json:"position,omitempty"`
	Transitional bool   `json:"transitional,omitempty"`
	StampNS      int64  `json:"stamp_ns,omitempty"`
	DeviationNS  *int64 `json:"deviation_ns,omitempty"`
}

// Delivery is one item of the stream /v1/deliveries. Which of the optional fields
// are there depends on the kind.
type Delivery struct {
	ID       string `json:"id"` // for resuming
	Sequence uint64 `json:"sequence"`
	Node     int    `json:"node"` // whose delivery it is
	Kind     string `json:"kind"`

	Message      string   `json:"message,omitempty"` // the id that the message has everywhere
	Sender       int      `json:"sender,omitempty"`
	Boot         string   `json:"boot,omitempty"`
	Order        string   `json:"order,omitempty"`
	Atomicity    string   `json:"atomicity,omitempty"`
	Transitional bool     `json:"transitional,omitempty"`
	Position     uint64   `json:"position,omitempty"`
	StampNS      int64    `json:"stamp_ns,omitempty"`
	DeviationNS  *int64   `json:"deviation_ns,omitempty"`
	Payload      string   `json:"payload,omitempty"` // base64
	View         string   `json:"view,omitempty"`
	NextView     string   `json:"next_view,omitempty"`
	PreviousView string   `json:"previous_view,omitempty"`
	Members      []Member `json:"members,omitempty"`
	Along        []int    `json:"along,omitempty"`
	Merged       []Branch `json:"merged,omitempty"`
	From         uint64   `json:"from,omitempty"`
	Through      uint64   `json:"through,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	Count        uint64   `json:"count,omitempty"`

	SubmittedNS          int64  `json:"submitted_ns,omitempty"`
	SubmittedDeviationNS *int64 `json:"submitted_deviation_ns,omitempty"`
	OrderedNS            int64  `json:"ordered_ns,omitempty"`
	AppliedNS            int64  `json:"applied_ns,omitempty"`
	HereDeviationNS      *int64 `json:"here_deviation_ns,omitempty"` // of the last two
}

// Done is the answer of a request that was carried out.
type Done struct {
	Done bool `json:"done"`
}

// Failure is the answer of a request that failed.
type Failure struct {
	Error string `json:"error"`
}

// Health is the answer of /healthz and /readyz.
type Health struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}
