// Package handler runs commands and webhooks at events of a node.
//
// Each handler has a queue and a goroutine of its own: it handles one event at a time,
// in the order of the events, and neither other handlers nor the node wait for it. An
// event is handled at most once. It is lost if the queue is full (the oldest one goes),
// if the node's own buffer of events runs over, if the command or the webhook fails, and
// if the process ends first. Lost events are counted, logged, and told to each run
// of the handler until one succeeds.
package handler
