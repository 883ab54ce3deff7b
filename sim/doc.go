// Package sim runs nodes in a deterministic world, thousands of times faster
// than real time, and checks after every single event that no promise is broken.
//
// The protocol layers are pure, so the very code that runs over UDP runs here:
// true time, which no node has, orders all events; every node has a hardware
// clock of its own that drifts within ρ; links lose, delay and cut; processes
// stall, crash and restart. A run is determined by its seed and [Options], and
// two runs of the same give the same [Result.Hash].
//
// # Testing an application
//
// An [App] has the handlers that a process runs on a node, and the promises that must
// hold between all processes. [Test] plays it in many worlds:
//
//	func TestOneWorker(t *testing.T) {
//		sim.Test(t, sim.Campaign{Options: sim.Options{Nodes: 5, App: service}})
//	}
//
// A run that breaks a promise is made smaller ([Shrink]), kept as a file ([Case]), and
// played first from then on. [New] makes a single world for a script, and [World.Run]
// lets its time pass.
package sim
