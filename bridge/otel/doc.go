// Command failaware-otel tells an OpenTelemetry collector the way of each message through a
// group of failaware: one trace for each message of the broadcast, with a span from its
// sending to its delivery at each node that has a bridge, or one trace for each operation
// of the store of keys and values: submitted, sent, ordered and applied at each node.
//
// Bridges need not know each other. The ids of a trace and of its first span are digests
// of the group and of the message's id, which is the same at all nodes, so what bridges
// send of one message meets in one trace, and a bridge that repeats itself repeats its ids.
// All bridges choose the same messages if they sample.
//
// All times are those of the group's clock, which the nodes agree on: a span begins at the
// message's stamp, and ends at the bridge's reading after the delivery. Those of
// operations are the node's own readings. Attributes have the proven bounds of both.
//
// It is in a module of its own: a node needs nothing of OpenTelemetry.
package main
