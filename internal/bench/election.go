package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// ElectionOptions are the choices of [Election].
type ElectionOptions struct {
	Setup            // its Limit is per size
	OneProcess bool  // all nodes are goroutines of this process
	Nodes      []int // sizes of groups
	Count      int   // rounds per size
	First      int   // first elections per size
	// Fanout, if not 0, measures each size above it once more, with the replies
	// collated along a tree with that many children.
	Fanout int
}

// Check returns an error if the choices make no sense.
func (o *ElectionOptions) Check() error {
	errs := []error{least("count", o.Count, 1), least("first", o.First, 0)}
	for _, n := range o.Nodes {
		errs = append(errs, within("nodes", n, 1, timed.MaxNodes))
	}
	if o.Fanout != 0 {
		errs = append(errs, within("collate", o.Fanout, leader.MinFanout, leader.MaxFanout))
	}
	return errors.Join(errs...)
}

// ElectionResult is the result of [Election].
type ElectionResult struct {
	Head
	Setup string         `json:"setup"`
	Sizes []ElectionSize `json:"sizes"`
}

// ElectionSize is the result for one size of the group.
type ElectionSize struct {
	Nodes int `json:"nodes"`
	// Election is the time from a request of the present leader, when it reads the
	// clock for the request, until it leads by the votes of all nodes. A renewal is
	// a whole round: the same messages, votes and checks.
	Election Summary `json:"election"`
	// Distribution is that of Election.
	Distribution Histogram `json:"distribution"`
	// First is the same for elections without a previous leader: the leader slept
	// until its lease had expired.
	First Summary `json:"first"`
	// Floor is the time of a scatter-gather without a protocol, interleaved with
	// the elections: packets of the same sizes to the same sockets, and back.
	Floor Summary `json:"floor"`
	// Ratio of the means of Election and Floor.
	Ratio        float64 `json:"ratio"`
	RequestBytes int     `json:"request_bytes"`
	ReplyBytes   int     `json:"reply_bytes"`
	// Incomplete rounds were not won by all votes, and Lost raw rounds were not
	// answered by all. They are not counted above.
	Incomplete int `json:"incomplete"`
	Lost       int `json:"lost"`
	// Collated is Election with collated replies, in a group of its own.
	Collated             Summary   `json:"collated"`
	CollatedDistribution Histogram `json:"collated_distribution"`
	// CollatedPackets came to the leader with the replies of others, per round.
	CollatedPackets float64 `json:"collated_packets"`
}

// Election measures elections. The leader is in this process, and each follower in a
// process of its own, like real nodes. A parent that only watches would make no
// difference, because this process does nothing else. With all nodes in one process
// times are about a third shorter for elections and floor alike: waking a goroutine
// takes less than waking a process.
func Election(ctx context.Context, opt ElectionOptions) (*ElectionResult, error) {
	r := &ElectionResult{Head: opt.head(ElectionKind), Setup: "the leader in one process, each follower in another"}
	if opt.OneProcess {
		opt.Launch = nil
		r.Setup = "all nodes in one process, a goroutine each"
	}
	for _, n := range opt.Nodes {
		s, err := electionOf(ctx, &opt, n, leader.Collation{})
		if err != nil {
			return nil, fmt.Errorf("bench: election of %d nodes: %w", n, err)
		}
		if c := (leader.Collation{Above: opt.Fanout + 1, Fanout: opt.Fanout}); opt.Fanout > 0 && n > c.Above {
			t, err := electionOf(ctx, &opt, n, c)
			if err != nil {
				return nil, fmt.Errorf("bench: collated election of %d nodes: %w", n, err)
			}
			s.Collated, s.CollatedDistribution, s.CollatedPackets = t.Election, t.Distribution, t.CollatedPackets
		}
		r.CutShort = r.CutShort || s.Election.Count < opt.Count
		r.Sizes = append(r.Sizes, *s)
		if n == 8 {
			r.Aims = append(r.Aims, aim("election of 8, mean, in floors", s.Ratio, 3, "×"),
				aimMillis("election of 8, mean", s.Election.Mean, 500*time.Microsecond))
		}
	}
	return r, nil
}

// electionOf measures one size.
func electionOf(ctx context.Context, opt *ElectionOptions, n int, c leader.Collation) (*ElectionSize, error) {
	key := ""
	if opt.Keys {
		key = newKey()
	}
	jobOf := func(i int) *job {
		return &job{Kind: bareJob, ID: timed.NodeID(i), Listen: "127.0.0.1:0", Timing: opt.Timing, Key: key}
	}
	lead, err := newBare(jobOf(1))
	if err != nil {
		return nil, err
	}
	defer lead.conn.Close()
	lead.cfg.Collation = c
	followers := crowd{peers: []address{{1, lead.conn.LocalAddr().String()}}}
	defer followers.stop()
	for i := 2; i <= n; i++ {
		if err := followers.start(opt.Launch, jobOf(i)); err != nil {
			return nil, err
		}
	}
	peers := followers.peers
	for _, c := range followers.children {
		c.tell(command{Do: doPeers, Peers: peers})
	}
	if err := lead.begin(peers); err != nil {
		return nil, err
	}
	m := &electionMeter{bare: lead, opt: opt, ctx: ctx, nodes: n, stopAt: time.Now().Add(opt.Limit)}
	for _, p := range peers[1:] {
		m.peers.Add(p.ID)
	}
	return m.measure()
}

// Text implements [Result].
func (r *ElectionResult) Text(w io.Writer) error {
	rows := [][]string{summaryHead("nodes", "what")}
	var more []string
	for _, s := range r.Sizes {
		n := fmt.Sprint(s.Nodes)
		rows = append(rows, summaryRow(s.Election, n, "election"), summaryRow(s.Floor, n, "raw floor"),
			summaryRow(s.First, n, "first election"))
		if s.Collated.Count > 0 {
			rows = append(rows, summaryRow(s.Collated, n, "collated"))
		}
		if s.Floor.Count > 0 {
			more = append(more, fmt.Sprintf("%d nodes: election/floor %.2f; request %d bytes, reply %d; %d incomplete rounds, %d raw rounds with loss",
				s.Nodes, s.Ratio, s.RequestBytes, s.ReplyBytes, s.Incomplete, s.Lost))
		}
	}
	return r.text(w, r.Setup+"; back to back; request → leader by the votes of all", rows, more...)
}
