// Package sched asks the operating system to run this process soon after it wakes.
//
// A node computes for some microseconds and then waits, and its leases are as long as
// its promises of when it runs. A process that computes all the time takes the processor
// in slices of some milliseconds; a node that wakes meanwhile waits for the end of one.
// Linux (6.12 and later) runs a thread that asks for shorter slices first. It gets no more
// of the processor for that, and needs no privilege.
package sched
