package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
)

// The values of flags for broadcasts.
var (
	castOrder = cli.OneOf(cli.Choice[failaware.Order]{Name: "unordered", Value: failaware.Unordered},
		cli.Choice[failaware.Order]{Name: "total", Value: failaware.TotalOrder},
		cli.Choice[failaware.Order]{Name: "timed", Value: failaware.TimedOrder})
	castAtomicity = cli.OneOf(cli.Choice[failaware.Atomicity]{Name: "weak", Value: failaware.WeakAtomicity},
		cli.Choice[failaware.Atomicity]{Name: "strong", Value: failaware.StrongAtomicity},
		cli.Choice[failaware.Atomicity]{Name: "strict", Value: failaware.StrictAtomicity})
	castAll = cli.OneOf(cli.Choice[bool]{Name: "one"}, cli.Choice[bool]{Name: "all", Value: true})
)

const benchBroadcastHelp = `Measure the broadcast with a process per node. Throughput is what the application of
the slowest member receives while the senders send as much as the window takes.
Latency is the time from the call of Broadcast until the applications of all members
have the message, by the hardware clock that the processes share. It is measured at
saturation, at 100 messages per second of all senders together, at the same rate
while processors are kept from sleeping (awake; node --awake does that, and needs the
same permission), and at half of the throughput, where each sender sends all due
messages once a millisecond.

Raw floors are what the same number of processes carry over the same kind of
sockets to the same number of receivers, without any protocol except flow control:
  plain    every message is a datagram of just its size, which passes through the
           kernel by itself; the aim of 40 % refers to this floor
  offload  the same datagrams, several of which share a message of the kernel;
           "-" if two are too large for that, or the kernel cannot do it
  packed   packets as large as those of the broadcast, full of messages
"of it %" is the throughput of the broadcast divided by that of the floor. The
broadcast puts many small messages into one packet, so it can be above 100 for plain.

The floor at 100 messages per second is the time from just before the system call
that sends a datagram of the message's size until all receivers have read it.
Everybody sleeps in between: it is what this machine takes to wake processes up.

Packets are as large as the loopback interface and the library take, unless
--packet says otherwise: 1200 is what any network carries. It needs Linux.`

func benchBroadcastCommand() *cobra.Command {
	opt := bench.BroadcastOptions{Setup: bench.Setup{Limit: 20 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "broadcast",
		Short: "Throughput and latency of the atomic broadcast, against the raw sockets",
		Long:  benchBroadcastHelp,
	}
	order := cli.NewValue("total", "order", castOrder)
	atomicities := cli.NewValue("weak,strict", "list", cli.ListOf(castAtomicity))
	senders := cli.NewValue("one,all", "list", cli.ListOf(castAll))
	loads := cli.NewValue("saturated,slow,awake,half", "list", cli.ListOf(cli.OneOf(cli.Names(bench.CastLoads...)...)))
	var seconds float64
	f := cmd.Flags()
	f.IntSliceVar(&opt.Members, "nodes", []int{3, 5}, "sizes of the group")
	f.IntSliceVar(&opt.Sizes, "size", []int{64, 1024, 16384}, "sizes of messages, in bytes")
	f.Var(order, "order", "order: unordered, total or timed")
	f.Var(atomicities, "atomicity", "atomicities: weak, strong, strict")
	f.Var(senders, "senders", "the senders: one member, or all of them")
	f.Var(loads, "load", "loads: saturated, slow (100 messages/s), awake (the same, processors kept from sleeping), half (of saturated)")
	f.Float64Var(&seconds, "seconds", 3, "how long each measurement takes; there are up to four for each line of the table, and the floors for every one or two")
	f.IntVar(&opt.Procs, "procs", 0, "GOMAXPROCS of each node's process; 0: its share of the cores, at least 1")
	f.IntVar(&opt.Packet, "packet", 0, "largest packet in bytes; 0: the limit of the loopback interface")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		opt.Order, opt.Atomicities, opt.All = order.Value, atomicities.Value, senders.Value
		opt.For = time.Duration(seconds * float64(time.Second))
		if cmd.Flags().Changed("load") { // otherwise without awake if it is not possible
			opt.Loads = loads.Value
		}
	}
	return benchCommand(cmd, &opt, "lan", bench.Broadcast)
}

func benchLatencyCommand() *cobra.Command {
	opt := bench.LatencyOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "latency",
		Short: "Where the time of a message goes, at 100 messages per second, against the raw sockets",
		Long: `Measure the stages of messages from one sender in total order, with a process per
node. The way of a message is followed backwards from the last application that gets it:
  call     from the call of Broadcast until the sender's system call
  send     from there until the receiver's kernel has the packet
  wake     from there until the receiver's loop has read it
  turn     from there until it sends the next packet that the message waits for
  deliver  or, after the last packet: until the application has the message
Their sum is the latency; send, wake and turn are those of all packets that follow each
other. The floor is the time from the system call that sends a datagram of the message's
size until all receivers have read it. It needs Linux.`,
	}
	atomicities := cli.NewValue("weak,strict", "list", cli.ListOf(castAtomicity))
	var seconds float64
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 3, "how many nodes")
	f.IntVar(&opt.Size, "size", 64, "size of the messages in bytes")
	f.Var(atomicities, "atomicity", "atomicities: weak, strong, strict")
	f.BoolVar(&opt.Awake, "awake", false, "keep processors from sleeping, as node --awake does")
	f.Float64Var(&seconds, "seconds", 3, "how long each measurement takes")
	cmd.PreRun = func(*cobra.Command, []string) {
		opt.Atomicities, opt.For = atomicities.Value, time.Duration(seconds*float64(time.Second))
	}
	return benchCommand(cmd, &opt, "lan", bench.Latency)
}

func benchOutageCommand() *cobra.Command {
	opt := bench.OutageOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "outage",
		Short: "Members that stop, crash, are cut off or too slow while all broadcast at saturation",
		Long: `Measure outages with a process per node, all of which broadcast as much as the window
takes. In turn a follower and the leader are stopped (SIGSTOP) and go on, a follower and
the leader are killed and start again, the group is cut in two and healed, and an
application takes far too long for its deliveries. The result is the longest time in
which the application of any other node got nothing, against the bound of the settings.

In the end the deliveries of all applications are compared: members of a view deliver
parts of one sequence, those that move on together deliver the same, and no message of a
sender that moves on with them is missing or comes twice.`,
	}
	atomicity := cli.NewValue("strict", "atomicity", castAtomicity)
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 5, "how many nodes")
	f.IntVar(&opt.Size, "size", 1024, "size of the messages in bytes")
	f.Var(atomicity, "atomicity", "weak, strong or strict")
	f.DurationVar(&opt.For, "for", 5*time.Second, "how long each outage lasts")
	cmd.PreRun = func(*cobra.Command, []string) { opt.Atomicity = atomicity.Value }
	return benchCommand(cmd, &opt, "lan", bench.Outage)
}

func benchTransferCommand() *cobra.Command {
	opt := bench.TransferOptions{Setup: bench.Setup{Limit: benchLimit}}
	cmd := &cobra.Command{
		Use:   "transfer",
		Short: "What a member with a large state costs the others when it returns",
		Long: `Measure the transfer of a replicated state, with a process per node. A member of a group
under load is killed and returns: all of the state is sent to it. The state is computed
and takes no memory, so the memory of the processes is that of the library, at most, as
the kernel counts it. Operations are those of the clients of the other nodes, in the
whole group before, during and after the transfer. It needs Linux.`,
	}
	f := cmd.Flags()
	f.IntSliceVar(&opt.Sizes, "size", []int{64, 256}, "sizes of the state in MiB; the disk takes twice as much")
	f.IntVar(&opt.Clients, "clients", 24, "how many clients the other nodes have")
	f.DurationVar(&opt.Every, "every", 0, "time between two operations of a client; 0: one after the other")
	f.IntVar(&opt.Rate, "rate", 0, "how many MiB of the state a node sends in a second; 0: the default")
	f.DurationVar(&opt.For, "for", 8*time.Second, "how long to measure before and after")
	f.BoolVar(&opt.Cut, "cut", false, "kill the sender half way; the group then has five nodes")
	f.StringVar(&opt.Spool, "spool", "", "directory for the snapshots (default: that for temporary files)")
	return benchCommand(cmd, &opt, "lan", bench.Transfer)
}
