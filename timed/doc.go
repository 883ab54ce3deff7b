// Package timed holds the vocabulary that all layers of failaware share:
// instants of one hardware clock, durations under bounded drift with directed
// rounding, node ids, boot ids, and sets of nodes.
//
// The model is the timed asynchronous model of Cristian and Fetzer: no bound
// on delays or scheduling is assumed, but every node has a hardware clock
// whose rate error is at most ρ ([Drift]). Everything that a layer promises
// rests on durations measured by such clocks, so this package is careful about
// one thing: a duration that must not be too long is rounded down, and one that
// must not be too short is rounded up.
//
// All types are plain values; they may be copied and compared, and are safe
// for concurrent use as any value is.
package timed
