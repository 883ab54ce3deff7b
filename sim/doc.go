// Package sim runs nodes in a deterministic world, thousands of times faster
// than real time, and checks after every single event that no promise is broken.
//
// The protocol layers are pure, so the very code that runs over UDP runs here:
// true time, which no node has, orders all events; every node has a hardware
// clock of its own that drifts within ρ; links lose, delay and cut; processes
// stall, crash and restart. A run is determined by its seed and [Options], and
// two runs of the same give the same [Result.Hash].
package sim
