// Command failaware-nats publishes what happens in a group of failaware to NATS
// JetStream: its views, changes of leaders, and the messages that a node delivers. So
// thousands of programs can follow a group without being members of it.
//
// Everything is in the stream exactly once, for as long as the stream keeps it, whichever
// bridges run and however often they and NATS restart. Each item has a subject of its
// own, made of its identity, and is published on the condition that the subject is
// empty. So an attempt can be repeated, and several members can have bridges: what one
// has published is refused to the others. Messages are in the stream in the order in
// which members deliver them, since a bridge publishes an item when all before it are
// there.
//
// It is in a module of its own: a node needs nothing of NATS.
package main
