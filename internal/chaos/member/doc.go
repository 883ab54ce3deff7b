// Package member is a program of a chaos run: it embeds two nodes by the public API, asks
// them all the time, and writes down what they answer, for package oracle.
//
// The broadcast of group a requires a quorum, and its nodes keep registers on a disk. That
// of group b does not: its nodes broadcast messages and make edicts. Both can change their
// quorum systems.
package member
