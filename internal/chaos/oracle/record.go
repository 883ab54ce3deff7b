package oracle

import "cmp"

// Kinds of records.
const (
	// Lead: this node leads its logical partition, with the support of Set.
	Lead = "lead"
	// Follow: this node supports Leader.
	Follow = "follow"
	// Global: this node leads globally.
	Global = "global"
	// Context: the context Number for a global lead has not ended.
	Context = "context"
	// Hold: no other node leads globally until Until. HoldLocal: none with this node's
	// support does.
	Hold      = "hold"
	HoldLocal = "hold-local"
	// View: the view is up to date.
	View = "view"
	// Installed: the node installed the view.
	Installed = "installed"
	// Clock: a reading of group time.
	Clock = "clock"
	// Send: message Text is about to be broadcast.
	Send = "send"
	// Deliver: a message was delivered in View.
	Deliver = "deliver"
	// Change: View follows Previous in the deliveries; Restart: a new incarnation follows.
	Change  = "change"
	Restart = "restart"
	// Lost: the own messages of ID up to Number have no known outcome.
	Lost = "lost"
	// Edict: an edict or a timestamp of the epoch Epoch, with the counter Number. Obeyed:
	// a fence obeyed the edict Text, with the outcome Done, or did not.
	Edict  = "edict"
	Obeyed = "obeyed"
	// Call: a client begins the operation Number. Return: it has ended.
	Call   = "call"
	Return = "return"
	// State: the operations that the state of this node has, in the end.
	State = "state"
	// Epoch: the node is in the epoch Epoch, under the quorum system Text. Wiped: the disk of
	// the node Number has nothing any more. Rewound: it has an older copy of the registers.
	// RolledBack: the node says that the disks of Set lack what these have acknowledged.
	Epoch      = "epoch"
	Wiped      = "wiped"
	Rewound    = "rewound"
	RolledBack = "rolled-back"
	// Event: the node reports something that must not happen.
	Event = "event"
	// Sample: what the process uses.
	Sample = "sample"
	// Heal: all faults ended at From, and the group was whole at To.
	Heal = "heal"
)

// Record is one line of the log of a program. From and To are readings of the common
// clock of the machine, in nanoseconds, before and after the answer.
type Record struct {
	Kind  string `json:"k"`
	Group string `json:"g,omitempty"`
	From  int64  `json:"b"`
	To    int64  `json:"e"`

	// Boot and Since name a lead, Boot alone an incarnation of the node.
	Boot   uint64 `json:"boot,omitempty"`
	Since  int64  `json:"since,omitempty"`
	Leader string `json:"leader,omitempty"` // an incarnation
	Set    []int  `json:"set,omitempty"`    // of nodes
	AtMost int64  `json:"most,omitempty"`   // of the answer, in nanoseconds
	Until  int64  `json:"until,omitempty"`  // of a hold, by the common clock

	View     string   `json:"view,omitempty"`
	Previous string   `json:"previous,omitempty"`
	Sequence uint64   `json:"sequence,omitempty"`
	Members  []string `json:"members,omitempty"` // incarnations, with the views that they came from

	// Time is group time: a reading, or the stamp of a message.
	Timeline  string `json:"timeline,omitempty"`
	Time      int64  `json:"time,omitempty"`
	Deviation int64  `json:"deviation,omitempty"`

	ID       *Message `json:"id,omitempty"`
	Text     string   `json:"text,omitempty"`
	Number   uint64   `json:"n,omitempty"`
	Position uint64   `json:"position,omitempty"`
	Order    string   `json:"order,omitempty"`
	Strict   bool     `json:"strict,omitempty"`
	Weakened bool     `json:"weakened,omitempty"` // the delivery is transitional

	Epoch  uint64  `json:"epoch,omitempty"`
	Stamps []Stamp `json:"stamps,omitempty"` // in the order of nodes

	Key     string `json:"key,omitempty"`
	Write   uint64 `json:"write,omitempty"`  // 0: the operation reads
	Leased  bool   `json:"leased,omitempty"` // it reads by lease, if the view has one; otherwise by a message
	Result  uint64 `json:"result,omitempty"`
	Outcome string `json:"outcome,omitempty"` // Done, Unknown or Refused
	// Applied has, for each client, the first and last numbers of the runs of its
	// operations that the state has.
	Applied map[string][][2]uint64 `json:"applied,omitempty"`

	Goroutines int   `json:"goroutines,omitempty"`
	Files      int   `json:"files,omitempty"`
	Live       int64 `json:"live,omitempty"`     // bytes of the heap after a collection
	Resident   int64 `json:"resident,omitempty"` // bytes of memory, without those of files
	Late       int64 `json:"late,omitempty"`     // the worst lateness of the machine, in nanoseconds
	Bound      int64 `json:"bound,omitempty"`    // of a healing
}

// Outcomes of operations.
const (
	Done    = "done"
	Unknown = "unknown"
	Refused = "refused"
)

// Orders of messages, as the records name them. Others have no order.
const (
	Total = "total"
	Timed = "timed"
)

// Message names a message.
type Message struct {
	Sender   int    `json:"s"`
	Boot     uint64 `json:"b"`
	Class    int    `json:"c"`
	Sequence uint64 `json:"n"`
}

func (m Message) compare(o Message) int {
	return cmp.Or(cmp.Compare(m.Sender, o.Sender), cmp.Compare(m.Boot, o.Boot), cmp.Compare(m.Class, o.Class), cmp.Compare(m.Sequence, o.Sequence))
}

// Stamp is a vote that an edict rests on.
type Stamp struct {
	Node        int    `json:"v"`
	Incarnation uint64 `json:"i"`
	Boot        uint64 `json:"b"`
	At          int64  `json:"t"` // on the voter's clock
}

// Log has what one process wrote, in the order of writing.
type Log struct {
	Node    int
	Process int
	Records []Record
}
