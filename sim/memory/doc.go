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
// Ids are all the addresses that there need to be: a node finds those that were
// started before it, and is learnt by them. See [failaware.Transport].
//
// # Faults
//
// [Network.Partition], [Network.Heal], [Network.Cut], [Network.Mend] say who
// reaches whom; [Network.Loss], [Network.Delay], [Network.Late] and
// [Network.Duplicate] what becomes of packets, on all links or, as methods of
// [Link], on one; [Network.Pause] and [Network.Resume] hold the loop of a node up.
// [Node.Close] of package failaware is a crash.
//
// Nothing that the network does may make two nodes lead the same node, or an
// answer hold for longer than it says. How soon there is a leader is bounded
// only while packets take less than Timing.OneWayTimeout and are not lost.
//
// # Clocks
//
// Each node has a hardware clock of its own that counts the (virtual) time with
// an offset and a drift, both drawn from the seed within Timing.MaxDrift unless
// [Network.SetClock] sets them: no two machines agree, and a test in which they
// did would prove less. Timers of the program itself count the bubble's time,
// so allow for the drift where a test compares the two. Wall clocks all agree.
//
// # What is reproducible
//
// Everything drawn at random comes from Options.Seed: clocks, boot ids, and the
// fate of packets. Each link has a source of its own, so what becomes of the nth
// packet from one node to another depends on nothing but the seed, n, and the
// settings of the link at that time. Not reproducible is in which order goroutines
// run that wake up at the same instant of virtual time; and in real time nothing
// is. A failure that must be replayed to the last step belongs into the pure
// simulator, package sim.
package memory
