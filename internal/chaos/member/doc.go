// Package member is a program of a chaos run: it embeds two nodes by the public API, asks
// them all the time, and writes down what they answer, for package oracle.
//
// The node of group a has a quorum system, and keeps registers on a disk. That of group b
// has neither, and broadcasts messages.
package member
