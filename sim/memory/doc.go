// Package memory is a network in memory for tests of programs that use package
// failaware: ordinary goroutines, real nodes, no sockets. Inside a bubble of
// [testing/synctest] time is virtual, so that minutes of elections, partitions
// and silence take milliseconds. Outside of bubbles the same code runs in real
// time.
//
//	synctest.Test(t, func(t *testing.T) {
//		net := memory.New(memory.Options{Seed: 1})
//		a, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: net.Transport()})
//		b, err := failaware.Start(t.Context(), failaware.Config{ID: 2, Transport: net.Transport()})
//		…
//		net.Partition([]failaware.NodeID{1}, []failaware.NodeID{2})
//		time.Sleep(a.Bounds().Elect)
//		… // each leads its own part, and knows that it leads nothing else
//	})
//
// Nodes need no addresses besides their ids: a node finds the nodes that were started
// before it, and they learn of it. See [failaware.Transport].
//
// Two nodes may have one id, as by mistake. The second one gets another address, and finds the
// nodes of other ids that were started before it. One of the two ends, with
// failaware.ErrDuplicateID, once a node hears both. Started before all others, the second one
// finds nobody, and nobody finds it.
//
// # Faults
//
// [Network.Partition], [Network.Heal], [Network.Cut] and [Network.Mend] disconnect and
// connect nodes. [Network.Loss], [Network.Delay], [Network.Late] and [Network.Duplicate]
// set the fate of packets, on all links or, as methods of [Link], on one.
// [Network.Pause] and [Network.Resume] stop and continue the loop of a node.
// Node.Close of package failaware is a crash.
//
// Nothing that the network does may make two nodes lead the same node, or an
// answer hold for longer than it says. How soon there is a leader is bounded
// only while packets take less than Timing.OneWayTimeout and are not lost.
//
// # Clocks
//
// Each node has a hardware clock of its own that counts the (virtual) time with
// an offset and a drift, both drawn from the seed within Timing.MaxDrift unless
// [Network.SetClock] sets them. Timers of the program itself count the bubble's time, so a
// test that compares the two must allow for the drift. Wall clocks all agree.
//
// # Reproducibility
//
// All random draws come from Options.Seed: clocks, boot ids, and the fate of packets.
// Each link has its own source, so the fate of the nth packet from one node to another
// depends only on the seed, n, and the settings of the link at that time. The order of
// goroutines that wake up at the same instant of virtual time is not reproducible, and in
// real time no order is. Package sim, the pure simulator, replays failures exactly.
package memory
