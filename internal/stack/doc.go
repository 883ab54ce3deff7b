// Package stack joins the machines of the layers into the state of one node. It is the
// only place where layers meet: it hands each layer what it needs of the layers below as
// arguments, and gathers everything that one turn says to one destination into one packet.
//
// The stack is pure, like the layers: the same code runs over UDP and in the simulator. It
// handles packets as values; package wire turns them into bytes.
//
// A turn is one call of a handler. It handles the input, then does everything that has
// become due, and at last sends the packets of the turn:
//
//	HandlePacket, HandleTimeout, …   stack.go     begin, input, end
//	  classify a packet              receive.go   datagram: accepted? fast?
//	  perform a layer's effects      election.go, views.go, clock.go, epochs.go, broadcast.go
//	  observe what changed           observe.go   events for the application
//	  send                           outbox.go    one packet for each destination
//
// The optional broadcast is between membership and the outbox. Its header is in all
// packets, and a view that membership has agreed on is committed when the broadcast has
// flushed the messages of the views before.
package stack
