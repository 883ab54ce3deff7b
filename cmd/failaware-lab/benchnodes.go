package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/timed"
)

func benchElectionCommand() *cobra.Command {
	// A lease can run out long before the leader counts as dead.
	timing := timed.LAN()
	timing.Expires *= 2
	opt := bench.ElectionOptions{Setup: bench.Setup{Timing: timing, Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "election",
		Short: "Time from a request for votes to the leader, against a bare scatter-gather",
		Long: `Measure elections back to back: the leader asks again as soon as it has won. A
renewal of the lease is a whole election, with the same messages, votes and checks.
The time runs from the clock reading that the request carries until the leader has
the votes of all nodes. Elections where nobody led before are listed separately.
--limit is for each size of the group.

The nodes consist of the protocol stack, the codec and the UDP sockets, without the
loop of a whole node, which looks up addresses, keeps events, and so on.

In the same run, in turn with the elections and over the same sockets, packets of
the same sizes are sent and answered at once, without any protocol: the floor.`,
	}
	f := cmd.Flags()
	f.IntSliceVar(&opt.Nodes, "nodes", []int{2, 4, 8}, "sizes of the group")
	f.IntVar(&opt.Count, "count", 100_000, "elections per size")
	f.IntVar(&opt.First, "first", 50, "elections per size without a previous leader")
	f.IntVar(&opt.Fanout, "collate", 0, "measure each size above K+1 again, with replies collated along a tree with K children; 0: not")
	f.BoolVar(&opt.OneProcess, "one-process", false, "run all nodes as goroutines of one process")
	return benchCommand(cmd, &opt, "", bench.Election)
}

func benchFailoverCommand() *cobra.Command {
	opt := bench.FailoverOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "failover",
		Short: "Time from a crash to the new leader and the new view",
		Long: `Measure failover with a process per node. The leader and a follower are killed in
turn (SIGKILL) and started again. The time runs from just before the signal until
the processes of all survivors know that a survivor leads by the votes of all of
them, and that they hold one new view, which is up to date.`,
	}
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 5, "how many nodes")
	f.IntVar(&opt.Count, "count", 100, "crashes of the leader, and as many of followers")
	f.BoolVar(&opt.Followers, "followers", true, "crash followers as well")
	return benchCommand(cmd, &opt, "local", bench.Failover)
}

func benchSplitCommand() *cobra.Command {
	opt := bench.SplitOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "split",
		Short: "Time to notice a split, to continue in both halves, and to merge again",
		Long: `Measure splits with a process per node. The group is cut in two halves, chosen at
random, and healed. The kernel drops packets between the halves at the receiving
sockets (Linux; no privileges are needed). Times run from the first node's cut, or
healing.`,
	}
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 8, "how many nodes")
	f.IntVar(&opt.Count, "count", 20, "how often to split and merge")
	return benchCommand(cmd, &opt, "lan", bench.Split)
}

func benchClockCommand() *cobra.Command {
	opt := bench.ClockOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Deviations of followers compared with the truth; the cost of Now",
		Long: `Measure clocks with a process per node. All followers are killed and join again.
From then on their clocks are read between two readings of the hardware clock, which
all processes of a host share, and so is the leader's. The truth is known to about a
microsecond, and every claimed deviation is compared with it.`,
	}
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 5, "how many nodes")
	f.IntVar(&opt.Count, "count", 5, "how often the followers join")
	f.DurationVar(&opt.Watch, "watch", 2*time.Second, "duration of watching after the first second")
	return benchCommand(cmd, &opt, "local", bench.Clock)
}

func benchIdleCommand() *cobra.Command {
	var opt bench.IdleOptions
	cmd := &cobra.Command{
		Use:   "idle",
		Short: "Packets, processor time and memory of idle nodes",
	}
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 8, "how many nodes")
	f.DurationVar(&opt.For, "for", 10*time.Second, "for how long")
	return benchCommand(cmd, &opt, "local", bench.Idle)
}

func benchAttackCommand() *cobra.Command {
	opt := bench.AttackOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "attack",
		Short: "Hostile packets to a group with keys: their cost, and that they change nothing",
		Long: `Send hostile packets to a node of a group with keys, with a process per node. The
attacker is on the path between nodes 1 and 2, reads their packets, and has no key. It
sends random bytes, overheard headers with random bodies, packets with one wrong bit or a
wrong length, packets again as they were, packets of incarnations that nobody knows,
packets marked as quiet, and packets that are not sealed or are sealed with another key.
The processor times of the attacked process are those beyond its work when it is left
alone. Packets that the kernel drops because the socket is full are not counted.`,
	}
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 3, "how many nodes")
	f.IntVar(&opt.Count, "count", 100_000, "hostile packets of each kind")
	f.IntVar(&opt.Rate, "rate", 100_000, "hostile packets per second")
	return benchCommand(cmd, &opt, "lan", bench.Attack)
}

func benchCollationCommand() *cobra.Command {
	opt := bench.CollationOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "collation",
		Short: "Packets and processor time of large groups' elections, with collated and direct replies",
		Long: `Measure renewals of a lease, and elections after a leader's crash, in simulated
groups without other faults: with every reply sent to the leader, and with replies collated
along a tree. A leader crashes in a group at rest, or just after a node came back. Packets and times are those of the simulated network. The leader's time
to receive is measured on this machine, with decoding, without sockets.`,
	}
	f := cmd.Flags()
	f.IntSliceVar(&opt.Nodes, "nodes", []int{8, 16, 32, 64, 128, 255}, "sizes of the group")
	f.IntVar(&opt.Fanout, "k", 4, "children of each node of the tree")
	f.IntVar(&opt.Renewals, "rounds", 100, "renewals per size")
	f.IntVar(&opt.Crashes, "crashes", 20, "crashes of the leader per size, of each kind")
	f.DurationVar(&opt.Delay, "delay", 500*time.Microsecond, "the longest delay of a packet; the shortest is a fifth of it")
	return benchCommand(cmd, &opt, "lan", bench.Collation)
}
