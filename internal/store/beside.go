package store

import (
	"context"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/replicate"
)

// Broadcast implements [api.Store]: the message is in the order of the commands, and changes
// no state.
func (s *Store) Broadcast(ctx context.Context, payload []byte, opts failaware.BroadcastOptions) (failaware.MessageID, error) {
	return s.replica.Broadcast(ctx, payload, opts)
}

// BroadcastAndWait implements [api.Store].
func (s *Store) BroadcastAndWait(ctx context.Context, payload []byte, opts failaware.BroadcastOptions) (failaware.Outcome, error) {
	return s.replica.BroadcastAndWait(ctx, payload, opts)
}

// Log implements [api.Store].
func (s *Store) Log() *api.StoreLog { return s.log }

// noteMessage shows a message to the clients of the API.
func (s *Store) noteMessage(m replicate.Message) {
	s.log.AddMessage(failaware.Delivery{ID: m.ID, Order: m.Order, Atomicity: m.Atomicity, Transitional: m.Transitional,
		Stamp: m.Stamp, Deviation: m.Deviation, Payload: m.Payload})
}
