// Package api lets other processes of the same machine ask a node: HTTP and JSON
// over a unix socket, with a stream of events that can be resumed. docs/api.md
// and docs/openapi.yaml describe it for users.
//
// Every answer carries its freshness: whether it is up to date, and for how long
// that lasts from the instant of answering on, by the node's hardware clock. The
// time that the answer needs to the client is part of that time.
//
// The server has limits on everything that a client can make it keep, and no
// client can hold up the node.
package api
