// Package member is the program of a node in a chaos run. It embeds two nodes through the
// public API, polls them all the time, and logs their answers for package oracle.
//
// The broadcast of group a requires a quorum, and its nodes keep registers on a disk. That
// of group b does not: its nodes broadcast messages and make edicts. Both can change their
// quorum systems.
package member
