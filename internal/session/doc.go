// Package session applies each operation once, however often clients submit it.
//
// A client that does not learn the outcome of an operation submits it again, perhaps at
// another node. Each operation of a [Table] therefore names a session and has a number
// there. The table is a part of the replicated state. It applies a number of a session
// once, and keeps the result: another operation with that number gets the same one.
//
// Everything is bounded by [Limits]. All members of a group decide alike what is kept,
// because the table depends on nothing but the order of the operations.
package session
