// Package timed holds the vocabulary that all layers of failaware share:
// instants of one hardware clock, durations under bounded drift with directed
// rounding, node ids, boot ids, and sets of nodes.
//
// The model is the timed asynchronous model of Cristian and Fetzer. It assumes
// no bound on delays or scheduling, but every node has a hardware clock whose
// rate error is at most ρ ([Drift]). All promises of the layers rest on
// durations measured by such clocks. A duration that must not be too long is
// therefore always rounded down, and one that must not be too short is always
// rounded up.
//
// All types are plain comparable values. Their methods do not synchronize.
package timed
