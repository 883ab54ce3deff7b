package failaware

import (
	"context"
	"time"

	replicas "github.com/failaware/failaware/broadcast/replica/driver"
)

// Freshness says what a state that was read is worth, by this node's hardware clock.
type Freshness struct {
	// UpToDate tells that the node had the state of its view all the time while it
	// was read, and that this view was up to date when reading had ended: no other
	// up-to-date view anywhere shares a member with it.
	UpToDate bool
	// ValidFor is for how long the view stays up to date from the answer on, if it is
	// not renewed; 0 unless UpToDate.
	ValidFor time.Duration
	// View is the view of the node; nil when there is none. It must not be changed.
	View *View
	// Situation says what the replica was about.
	Situation ReplicaSituation
	// Behind is how many calls of the application were waiting: operations that are
	// delivered to this node and not in the state, above all.
	Behind int
}

// Read calls f while the application is not being changed, and says what f saw: some
// state of this node, and whether it is that of an up-to-date view. Other members may
// have applied more, or less. Reads go on at the same time; f must not change the
// application, nor call methods of the replica that wait. Read sends nothing.
func (r *Replica) Read(f func()) Freshness {
	r.app.mu.RLock()
	before := r.Progress()
	f()
	fresh := r.fresh(before)
	r.app.mu.RUnlock()
	return fresh
}

// ReadLatest calls f between two calls of the application, where the state has all
// that any member of the view was told to be applied before ReadLatest was called.
// With RequireQuorum, reads by ReadLatest and operations by [Replica.Submit] are
// linearizable over the whole group, as long as a majority of it keeps running;
// without, over those who share the view. f is called at most once, by another
// goroutine, and not after ReadLatest has returned; it must not change the
// application, nor call methods of the replica that wait.
//
// It broadcasts a message of one byte, and waits until that is possible and it has
// come back, again and again if views change. The error is that of [Replica.Submit]
// for operations that are not submitted, and then f was not called.
func (r *Replica) ReadLatest(ctx context.Context, f func()) (Freshness, error) {
	var fresh Freshness
	_, err := r.barrier(ctx, func() {
		before := r.Progress()
		f()
		fresh = r.fresh(before)
	})
	return fresh, err
}

// fresh says what was read since the replica was as it was before.
func (r *Replica) fresh(before ReplicaProgress) Freshness {
	after, v := r.Progress(), r.n.View()
	f := Freshness{View: v.View, Situation: after.Situation, Behind: after.Behind}
	if v.UpToDate && before.Situation == ReplicaWorking && after.Situation == ReplicaWorking &&
		before.View == after.View && after.View == v.View.ID {
		f.UpToDate, f.ValidFor = true, v.ValidFor
	}
	return f
}

// ReplicaProgress says what a replica is about, and how far the transfer of state to
// it has come.
type ReplicaProgress struct {
	Situation ReplicaSituation
	View      ViewID // that the situation is of
	Accepting bool   // operations are taken
	// Behind is how many calls of the application wait.
	Behind int
	// From is who sends the state that this node waits for; NoNode if nobody does yet,
	// or several members.
	From NodeID
	// Bytes of Total have come, of the snapshots that have begun to come.
	Bytes, Total uint64
}

// Progress says what the replica is about. It takes no more than two short locks.
func (r *Replica) Progress() ReplicaProgress {
	r.mu.Lock()
	life := r.life
	r.mu.Unlock()
	if life == nil {
		return ReplicaProgress{}
	}
	s, _ := life.Status()
	return ReplicaProgress{Situation: s.Situation, View: s.View, Accepting: s.Accepting, Behind: life.Behind(),
		From: s.Progress.From, Bytes: s.Progress.Bytes, Total: s.Progress.Total}
}

// turn returns a channel that is closed when a life is over.
func (r *Replica) turn(life *replicas.Driver) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != life {
		over := make(chan struct{})
		close(over)
		return over
	}
	return r.begun
}
