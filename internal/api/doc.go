// Package api lets other processes of the same machine query a node, with HTTP and JSON
// over a unix socket and with a resumable stream of events. docs/reference/api.md and
// docs/openapi.yaml describe it for users.
//
// Every answer carries its freshness: whether it is up to date, and for how long after the
// instant of answering, by the node's hardware clock. That time includes the transmission
// of the answer to the client.
//
// The server limits everything that it keeps for a client, and no client can delay the
// node.
package api
