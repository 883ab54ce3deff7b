package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
)

func benchBroadcastCommand() *cobra.Command {
	var opt bench.BroadcastOptions
	var timing *benchTiming
	var order string
	var atomicities, senders, loads []string
	var seconds float64
	cmd := &cobra.Command{
		Use:   "broadcast",
		Short: "Throughput and latency of the atomic broadcast, against the raw sockets",
		Long: `A process per node. Throughput is what the application of the slowest member
receives while the senders send as much as the window takes. Latency is the time
from the call of Broadcast until the applications of all members have the
message, by the hardware clock that the processes share: at saturation, at 100
messages per second of all senders together, at the same rate while processors
are kept from sleeping (awake; node --awake does that, and it needs the same
permission), and at half of the throughput, with what is due sent together once
a millisecond.

Raw floors are what the same number of processes carry over the same kind of
sockets to the same number of receivers, without any protocol but flow control:
  plain    every message is a datagram of just its size, which passes through the
           kernel by itself; the aim of 40 % is held against this one
  offload  the same datagrams, several of which share a message of the kernel;
           "-" if two are too large for that, or the kernel cannot do it
  packed   packets as large as those of the broadcast, full of messages
"of it %" is the throughput of the broadcast by that of the floor. The broadcast
puts many small messages into one packet, so it can be above 100 for plain.

The floor at 100 messages per second is the time from just before the system call
that sends a datagram of the message's size until all receivers have read it.
Everybody sleeps in between: it is what this machine takes to wake processes up.

Packets are as large as the loopback interface and the library take, unless
--packet says otherwise: 1200 is what any network carries. It needs Linux.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range opt.Members {
				if err := benchCheck("nodes", n, 2); err != nil {
					return err
				}
			}
			var ok bool
			if opt.Order, ok = castOrders[order]; !ok {
				return cli.Wrong("--order %q: there are unordered, total and timed", order)
			}
			for _, name := range atomicities {
				a, ok := castAtomicities[name]
				if !ok {
					return cli.Wrong("--atomicity %q: there are weak, strong and strict", name)
				}
				opt.Atomicities = append(opt.Atomicities, a)
			}
			for _, name := range senders {
				if name != "one" && name != "all" {
					return cli.Wrong("--senders %q: there are one and all", name)
				}
				opt.All = append(opt.All, name == "all")
			}
			for i, name := range loads {
				l := bench.CastLoadName(name)
				if !slices.Contains(bench.CastLoads, l) {
					return cli.Wrong("--load %q: there are saturated, slow, awake and half", name)
				}
				if l == bench.LoadHalf && !slices.Contains(opt.Loads[:i], bench.LoadSaturated) {
					return cli.Wrong("--load half: it is half of saturated, which must come before it")
				}
				opt.Loads = append(opt.Loads, l)
			}
			if seconds <= 0 || seconds > 60 {
				return cli.Wrong("--seconds %v: it must be above 0, and at most 60", seconds)
			}
			if opt.Procs < 0 || opt.Procs > bench.MaxProcs {
				return cli.Wrong("--procs %d: it must be within 0 and %d", opt.Procs, bench.MaxProcs)
			}
			if !cmd.Flags().Changed("load") {
				opt.Loads = nil
			} else if slices.Contains(opt.Loads, bench.LoadAwake) {
				if err := bench.MayKeepAwake(); err != nil {
					return cli.Wrong("--load awake: %w", err)
				}
			}
			opt.For = time.Duration(seconds * float64(time.Second))
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			return benchRun(cmd, &opt, &opt.Launch, bench.Broadcast)
		},
	}
	timing = benchPreset(cmd, "lan")
	f := cmd.Flags()
	f.IntSliceVar(&opt.Members, "nodes", []int{3, 5}, "sizes of the group")
	f.IntSliceVar(&opt.Sizes, "size", []int{64, 1024, 16384}, "sizes of messages, in bytes")
	f.StringVar(&order, "order", "total", "order: unordered, total or timed")
	f.StringSliceVar(&atomicities, "atomicity", []string{"weak", "strict"}, "atomicities: weak, strong, strict")
	f.StringSliceVar(&senders, "senders", []string{"one", "all"}, "who sends: one member, or all of them")
	f.StringSliceVar(&loads, "load", []string{"saturated", "slow", "awake", "half"}, "loads: saturated, slow (100 messages/s), awake (the same, processors kept from sleeping), half (of saturated)")
	f.Float64Var(&seconds, "seconds", 3, "how long each measurement takes; there are up to four for each line of the table, and the floors for every one or two")
	f.IntVar(&opt.Procs, "procs", 0, "GOMAXPROCS of each node's process; 0: its share of the cores, at least 1")
	f.IntVar(&opt.Packet, "packet", 0, "largest packet in bytes; 0: what the loopback interface takes")
	f.DurationVar(&opt.Limit, "limit", 20*time.Minute, "the longest time to take; what was measured until then is printed")
	return cmd
}

var castOrders = map[string]failaware.MessageOrder{"unordered": failaware.Unordered, "total": failaware.TotalOrder,
	"timed": failaware.TimedOrder}

var castAtomicities = map[string]failaware.Atomicity{"weak": failaware.WeakAtomicity, "strong": failaware.StrongAtomicity,
	"strict": failaware.StrictAtomicity}
