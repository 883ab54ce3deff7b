package failaware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// EpochAnswer is a node's knowledge of the quorum system in use.
type EpochAnswer struct {
	// Epoch is the number of the quorum system; 0 while the node knows of none.
	Epoch uint64
	// System is the text of the quorum system, which [quorum.Parse] reads.
	System string
	// Phase is the progress of a change, as far as this node knows. Next is the text of the
	// proposed or chosen successor.
	Phase epoch.Phase
	Next  string
	// Dead are members that were declared dead to force Next.
	Dead Set
	// Voters are the nodes with a vote in System. Missing are those of them that are not alive,
	// as far as this node hears.
	Voters, Missing Set
	// Static says that this node's quorum system cannot be replaced: it has none, or no
	// state directory, or [BroadcastConfig.RequireQuorum] without replicated state.
	Static bool
}

// Epoch returns the node's knowledge of the quorum system in use. After the first start,
// the state directory names that system, and [Config.Quorum] has no effect. Epoch is safe
// for concurrent use.
func (n *Node) Epoch() EpochAnswer {
	snap := n.loop.Snapshot()
	a, q := EpochAnswer{Epoch: n.cfg.QuorumEpoch, Static: true}, n.cfg.Quorum
	if s := snap.Epoch; s != nil {
		fixed := n.orders() && n.guard.Load() == nil
		a = EpochAnswer{Epoch: s.Epoch, System: s.System, Phase: s.Phase, Next: s.Next, Dead: s.Dead, Static: fixed}
		q, _ = quorum.Parse(s.System) // there is none before a node has heard
	} else if q != nil {
		a.System = q.String()
	}
	if q != nil {
		running := snap.Alive
		running.Add(n.cfg.ID)
		a.Voters, a.Missing = q.Members(), q.Members().Minus(running)
	}
	return a
}

// orders reports whether quorums order messages.
func (n *Node) orders() bool { return n.cfg.Broadcast != nil && n.cfg.Broadcast.RequireQuorum }

// guard returns nil if a quorum system that orders messages may be replaced by next. The
// replicated state sets it; see [attach.Deliveries].
type guard func(ctx context.Context, epoch uint64, next quorum.System) error

func (n *Node) guardQuorum(g func(ctx context.Context, epoch uint64, next quorum.System) error) {
	n.guard.Store((*guard)(&g))
}

// requireState returns nil if the replicated state is of an epoch and a quorum of next has
// it, or if there is no replicated state.
func (n *Node) requireState(ctx context.Context, epoch uint64, next quorum.System) error {
	if g := n.guard.Load(); g != nil && n.orders() {
		return (*g)(ctx, epoch, next)
	}
	return nil
}

// ChangeQuorum replaces the quorum system, and returns when this node has entered the
// next epoch. This node must lead globally. After an error, the change may still come
// about: [Node.Epoch] tells, here or elsewhere. Call ChangeQuorum again then, at the node
// that leads. It proposes nothing if next rules already.
//
// With a replicated state ([BroadcastConfig.RequireQuorum]), quorums of both systems must
// have the state before. ChangeQuorum then returns when a quorum of the next system has the
// state in the next epoch. Only then may members of the former system be stopped.
//
// The error is [ErrStaticQuorum]; [ErrStateNotReady]; [ErrNotLeader], also when the lead
// has ended before this node knew of a proposal, which others may have noted;
// [ErrSuperseded], if the next epoch has another quorum system; [epoch.ErrUnderWay] or
// [epoch.ErrSystem]; [ErrClosed]; the cause of ctx; or says that packets are too small for
// the change. It is safe for concurrent use.
func (n *Node) ChangeQuorum(ctx context.Context, next quorum.System) error {
	var former uint64 // the epoch before that of next
	err := n.change(next, func(before EpochAnswer) error {
		rules := before.System == next.String() && before.Next == ""
		if (rules || n.orders()) && !n.LeadsGlobally() {
			return loop.ErrNotLeader // whatever its state
		}
		if rules {
			former = before.Epoch - 1
			return nil
		}
		former = before.Epoch
		if err := n.requireState(ctx, before.Epoch, next); err != nil {
			return err
		}
		return n.loop.ProposeQuorum(ctx, before.Epoch, next.String())
	})
	if err != nil {
		return err
	}
	look := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer look.Stop()
	for {
		if done, err := n.changed(ctx, former, next); done || err != nil {
			return err
		}
		select {
		case <-look.C:
		case <-n.done:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// changed reports whether next has replaced the quorum system of an epoch. The error says
// why it never will.
func (n *Node) changed(ctx context.Context, before uint64, next quorum.System) (done bool, err error) {
	switch now := n.Epoch(); {
	case now.Epoch > before+1:
		return false, fmt.Errorf("%w: epoch %d has begun", ErrSuperseded, now.Epoch)
	case now.Epoch > before && now.System != next.String():
		return false, fmt.Errorf("%w: epoch %d is ruled by %s", ErrSuperseded, now.Epoch, now.System)
	case now.Epoch > before:
		err := n.requireState(ctx, now.Epoch, next)
		if errors.Is(err, ErrStateNotReady) {
			return false, nil
		}
		return err == nil, err
	case now.Phase == epoch.Idle && !n.LeadsGlobally():
		// The proposal may be on its way to the disk, and to others.
		return false, fmt.Errorf("%w: the lead has ended, and the change may still come about", n.refuse(true))
	case now.Next != "" && now.Next != next.String():
		return false, fmt.Errorf("%w: %s is proposed", ErrSuperseded, now.Next)
	}
	return false, nil
}

// ForceQuorum replaces the quorum system without a leader, when so many members are
// lost for good that none can be elected. It returns when this node has begun to tell
// the members that are not declared dead; they enter the next epoch when all of them
// have answered. Every promise then rests on the caller's word that the dead are dead, and
// nothing can check it but where this node hears them: read [epoch.Machine.Force] and docs/how-to/epochs.md first, and force at one node
// only.
//
// With a replicated state, operations then wait for a quorum of the former system that
// remembers it. If the dead leave none, only [replicate.Replica.Bootstrap] ends that, and
// acknowledged operations that only the dead had are lost.
//
// The error is [ErrStaticQuorum], [epoch.ErrUnderWay], [epoch.ErrSystem], or [epoch.ErrAlive] if this
// node hears one of the dead, or says that packets are too small. It is also [ErrClosed] or the cause of ctx: if that ends while the node is about it,
// the change may be forced all the same. Look at the epoch of this node then, by [Node.Epoch] or
// after another start, before you force at another one.
func (n *Node) ForceQuorum(ctx context.Context, next quorum.System, dead Set) error {
	return n.change(next, func(EpochAnswer) error { return n.loop.ForceQuorum(ctx, next.String(), dead) })
}

// change begins a change, with the answer of [Node.Epoch] before it.
func (n *Node) change(next quorum.System, begin func(before EpochAnswer) error) error {
	if next == nil {
		return errors.New("failaware: a change needs a quorum system")
	}
	before := n.Epoch()
	if before.Static {
		return ErrStaticQuorum
	}
	err := begin(before)
	if errors.Is(err, loop.ErrNotLeader) || errors.Is(err, epoch.ErrNotLeader) {
		err = n.refuse(true)
	}
	return err
}

// Edict returns an edict of the global leader for a payload, by which a store orders this
// decision among all others. Everything else about the decision must be ready: the clock is
// read last. Edicts of later calls are later, at whichever node they are made, as
// [edict.Compare] says; see docs/how-to/edicts.md. The error is that of [Node.Timestamp].
// It is safe for concurrent use.
func (n *Node) Edict(payload []byte) (edict.Edict, error) { return n.EdictOf(edict.Sum(payload)) }

// EdictOf is like [Node.Edict], for the digest of a payload.
func (n *Node) EdictOf(payload edict.Digest) (edict.Edict, error) {
	t, err := n.Timestamp()
	if err != nil {
		return edict.Edict{}, err
	}
	// The call above made the decision. Its stamps are those of the lease that it compared
	// with the clock.
	return edict.Edict{Epoch: t.Quorum.Epoch, Counter: t.Counter, Digest: payload, Stamps: slices.Clone(t.Quorum.Stamps)}, nil
}

// Timestamp returns a timestamp for a decision of the global leader. Everything else
// about the decision must be ready: the decision is made at the time of this call,
// which reads the clock last. Timestamps of later calls are larger, at whichever node
// they are made. [leader.Timestamp] says how they compare, and that only nodes with a
// [Config.StateDir] can always be told apart from their earlier starts.
//
// The error is [ErrNotLeader] when the node did not lead globally at that time,
// and [ErrClosed]. It is safe for concurrent use.
func (n *Node) Timestamp() (leader.Timestamp, error) {
	// Timestamps of one node are in the order of their counters because the
	// clock is read under the lock.
	n.stamping.Lock()
	defer n.stamping.Unlock()
	made := n.stamped + 1
	s, now, ok := current(n.loop.Snapshot, n.clock.Read)
	stamps := stampsAt(s, now)
	if !ok || stamps == nil {
		if isClosed(n.done) {
			return leader.Timestamp{}, ErrClosed
		}
		return leader.Timestamp{}, n.refuse(true)
	}
	n.stamped = made
	return leader.Timestamp{Quorum: stamps, Counter: made}, nil
}

// stampsAt returns the stamps of the global lease if it lasts at now, or else nil.
func stampsAt(s *loop.Snapshot, now timed.Instant) *leader.QuorumStamp {
	if !s.GlobalLead(now).Leads {
		return nil
	}
	return s.Stamps
}
