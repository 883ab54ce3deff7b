// Package stack joins the machines of the layers into the state of one node. It
// is the only place where layers meet: it hands each layer what it needs of
// the layers below as arguments, and gathers what they want to say to one
// destination in one turn into one packet.
//
// The stack is pure, like the layers: the same code runs over UDP and in the
// simulator.
//
// The optional broadcast has its place between membership and the outbox: its
// header rides in all packets, and a view that membership has agreed on is
// committed when the broadcast has flushed the messages of those before it.
package stack
