package api

// KVFresh says how fresh an answer of the store is.
type KVFresh struct {
	// Latest says that the answer includes all that was acknowledged before the request:
	// in a linearizable store by any node, in a partitionable one within this part.
	Latest    bool   `json:"latest"`
	UpToDate  bool   `json:"up_to_date"`
	AtMostNS  int64  `json:"at_most_ns"`
	AsOfNS    int64  `json:"as_of_ns"` // the hardware clock
	View      string `json:"view,omitempty"`
	Members   []int  `json:"members"`
	Situation string `json:"situation"`
	Behind    int    `json:"behind"` // calls that wait for the state
}

// KVItem is a key with its value.
type KVItem struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // base64
	Version string `json:"version"`
	Created uint64 `json:"created"`
	Lease   string `json:"lease,omitempty"`
}

// KVGet is the answer of /v1/kv/get.
type KVGet struct {
	Key      string  `json:"key"`
	Found    bool    `json:"found"`
	Value    string  `json:"value,omitempty"` // base64
	Version  string  `json:"version,omitempty"`
	Created  uint64  `json:"created,omitempty"`
	Lease    string  `json:"lease,omitempty"`
	Revision uint64  `json:"revision"`
	Place    string  `json:"place"`
	Fresh    KVFresh `json:"fresh"`
	Error    string  `json:"error,omitempty"`
}

// KVList is the answer of /v1/kv/list.
type KVList struct {
	Items    []KVItem `json:"items"`
	More     bool     `json:"more"`
	Revision uint64   `json:"revision"`
	Place    string   `json:"place"`
	Fresh    KVFresh  `json:"fresh"`
}

// KVWrite is the answer of a command that reached the state.
type KVWrite struct {
	Status       string  `json:"status"`
	Key          string  `json:"key,omitempty"`
	Version      string  `json:"version,omitempty"` // that the key has now
	Lease        string  `json:"lease,omitempty"`   // that was made
	Limit        string  `json:"limit,omitempty"`
	Revision     uint64  `json:"revision"`
	Lasting      bool    `json:"lasting"`
	Transitional bool    `json:"transitional"`
	Repeated     bool    `json:"repeated"` // an earlier attempt was carried out, with this result
	Fresh        KVFresh `json:"fresh"`
	Error        string  `json:"error,omitempty"`
}

// KVCommand is one command of the request /v1/kv/batch. What it leaves out is nil.
type KVCommand struct {
	Op      string  `json:"op"` // put or delete
	Key     string  `json:"key"`
	Value   []byte  `json:"value,omitzero"` // base64
	Version *string `json:"version,omitempty"`
	TTL     *string `json:"ttl,omitempty"`
	Lease   *string `json:"lease,omitempty"`
	Session *string `json:"session,omitempty"`
	Number  *uint64 `json:"number,omitempty"`
}

// KVBatch is the answer of /v1/kv/batch: the results of the commands, in their order.
type KVBatch struct {
	Results []KVResult `json:"results"`
}

// KVResult is the result of one command.
type KVResult struct {
	Code  int      `json:"code"`            // the status code that the command has by itself
	Write *KVWrite `json:"write,omitempty"` // missing if the command did not reach the state
	Error string   `json:"error,omitempty"`
}

// KVSession is the answer of /v1/kv/session/open.
type KVSession struct {
	Session string `json:"session"`
}

// KVLease is the answer of /v1/kv/lease.
type KVLease struct {
	Lease string   `json:"lease"`
	Found bool     `json:"found"`
	TTLNS int64    `json:"ttl_ns,omitempty"`
	Keys  []string `json:"keys"`
	// EndNS is the group time after which it ends; missing while its time has not begun.
	EndNS    int64   `json:"end_ns,omitempty"`
	Timeline string  `json:"timeline,omitempty"`
	Fresh    KVFresh `json:"fresh"`
	Error    string  `json:"error,omitempty"`
}

// KVConflicts is the answer of /v1/kv/conflicts.
type KVConflicts struct {
	Conflicts []KVConflict `json:"conflicts"`
	More      bool         `json:"more"`
	Forgotten uint64       `json:"forgotten"`
	Fresh     KVFresh      `json:"fresh"`
}

// KVConflict is a value that a merger did not choose.
type KVConflict struct {
	ID          string `json:"id"`
	Key         string `json:"key"`
	Value       string `json:"value"` // base64
	Deleted     bool   `json:"deleted"`
	Version     string `json:"version"`
	KeptVersion string `json:"kept_version"`
	Revision    uint64 `json:"revision"`
	TimeNS      int64  `json:"time_ns"` // group time of the write
	DeviationNS *int64 `json:"deviation_ns"`
}

// KVStatus is the answer of /v1/kv/status.
type KVStatus struct {
	Kind       string  `json:"kind"`
	Storage    string  `json:"storage,omitempty"` // directory
	Disk       string  `json:"disk,omitempty"`    // why that of this node takes nothing
	Accepting  bool    `json:"accepting"`
	Absent     []int   `json:"absent"`                // nodes that may know more
	Unstored   []int   `json:"unstored,omitempty"`    // other nodes whose disks hold commands up
	UnstoredNS int64   `json:"unstored_ns,omitempty"` // for how long
	Obstacle   string  `json:"obstacle,omitempty"`    // why the state that this node waits for does not come
	Lossy      string  `json:"lossy,omitempty"`       // that commands acknowledged before the state began may be gone
	Revision   uint64  `json:"revision"`
	Oldest     uint64  `json:"oldest"` // changes after this revision are kept
	Place      string  `json:"place"`
	Keys       int     `json:"keys"`
	Bytes      int     `json:"bytes"`
	Leases     int     `json:"leases"`
	Conflicts  int     `json:"conflicts"`
	Tombstones int     `json:"tombstones"`
	Watchers   int     `json:"watchers"`
	Expired    uint64  `json:"expired"`
	Overtaken  uint64  `json:"overtaken"`
	Forgotten  uint64  `json:"forgotten"`
	MaxKeys    int     `json:"max_keys"`
	MaxBytes   int     `json:"max_bytes"`
	Fresh      KVFresh `json:"fresh"`
	Lag        string  `json:"lag,omitempty"` // which members of the view, or what view, the commands wait for
}

// KVChange is one item of the stream /v1/kv/watch.
type KVChange struct {
	ID       string `json:"id"` // for resuming
	Kind     string `json:"kind"`
	Key      string `json:"key,omitempty"`
	Value    string `json:"value,omitempty"` // base64
	Version  string `json:"version,omitempty"`
	Lease    string `json:"lease,omitempty"`
	Revision uint64 `json:"revision"`
	Reason   string `json:"reason,omitempty"`
}
