// Package store runs the key-value store of a node: a [kv.State] that package replicate
// keeps the same at all members, behind the interface that the API has for it. It lets
// leases end by commands of its own, in the order of all others.
package store
