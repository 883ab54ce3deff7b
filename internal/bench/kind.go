package bench

// Kind names the benchmark that a result in JSON is of, so that what draws it
// knows what it reads.
type Kind string

// The kinds of results from which pictures are drawn.
const (
	ElectionKind  Kind = "election"
	SplitKind     Kind = "split"
	CollationKind Kind = "collation"
)
