package bench

// Kind is the name of a benchmark.
type Kind string

// The benchmarks.
const (
	ElectionKind  Kind = "election"
	FailoverKind  Kind = "failover"
	SplitKind     Kind = "split"
	ClockKind     Kind = "clock"
	IdleKind      Kind = "idle"
	BroadcastKind Kind = "broadcast"
	LatencyKind   Kind = "latency"
	OutageKind    Kind = "outage"
	CollationKind Kind = "collation"
	AttackBench   Kind = "attack"
	TransferKind  Kind = "transfer"
)
