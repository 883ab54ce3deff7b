package failaware

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/edict/fence"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

const before, after = "majority:1,2,3", "majority:2,3,4"

func system(t testing.TB, text string) quorum.System {
	s, err := quorum.Parse(text)
	require.NoError(t, err)
	return s
}

// startEpochs starts nodes 1 to 4; node 4 is new in the group of the others.
func startEpochs(t testing.TB, dir string) (nodes []*Node) {
	var peers []Peer
	for id := NodeID(1); id <= 4; id++ {
		cfg := Config{ID: id, Peers: peers, StateDir: dir, Timing: LAN()}
		if cfg.JoinQuorum = id == 4; id < 4 {
			cfg.Quorum = system(t, before)
		}
		n := startNode(t, cfg)
		nodes = append(nodes, n)
		peers = append(peers[:len(peers):len(peers)], Peer{n.ID(), n.Addr().String()})
	}
	return nodes
}

func inEpoch(t testing.TB, number uint64, text string, nodes []*Node) *Node {
	t.Helper()
	eventually(t, "all are in the epoch, and one leads globally", func() bool {
		for _, n := range nodes {
			if a := n.Epoch(); a.Epoch != number || a.System != text || a.Phase != epoch.Idle || a.Static {
				return false
			}
		}
		return globalLeaderOf(nodes...) != nil
	})
	return globalLeaderOf(nodes...)
}

// edictOf makes an edict at whichever node leads globally.
func edictOf(t testing.TB, payload string, nodes []*Node) (e edict.Edict) {
	eventually(t, "a global leader makes an edict", func() bool {
		for _, n := range nodes {
			var err error
			if e, err = n.Edict([]byte(payload)); err == nil {
				return true
			}
			require.ErrorIs(t, err, ErrNotLeader)
		}
		return false
	})
	return e
}

// requireRefused looks at the error of what only the global leader may do.
func requireRefused(t testing.TB, err error) {
	t.Helper()
	require.ErrorIs(t, err, ErrNotLeader)
	require.Regexp(t, `this node does not lead globally(; node \d does, as far as it knows|, and knows of nobody who does)$`, err.Error())
}

// changesOfOthers waits for changes that others have made. Only the quorum system that was asked
// for, in the very next epoch, is success.
func changesOfOthers(t testing.TB) {
	n := startNode(t, Config{ID: 1, Quorum: system(t, before), QuorumEpoch: 3})
	for _, c := range []struct {
		former uint64
		next   string
		done   bool
	}{{2, before, true}, {2, after, false}, {1, before, false}, {1, after, false}} {
		done, err := n.changed(t.Context(), c.former, system(t, c.next))
		require.Equal(t, c.done, done, "%+v", c)
		if c.done {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrSuperseded, "%+v", c)
		}
	}
}

func TestChangesOfOthersAreNoSuccess(t *testing.T) { changesOfOthers(t) }

// followersChangeNothing asks a node that does not lead for the quorum system that it is in, and
// whether a change that nobody has proposed is complete. It cannot know that no later epoch has
// begun, and nobody makes the change.
func followersChangeNothing(t testing.TB) {
	n := startNode(t, Config{ID: 1, Quorum: system(t, before), StateDir: t.TempDir(), Timing: LAN()})
	require.Equal(t, before, n.Epoch().System)
	requireRefused(t, n.ChangeQuorum(t.Context(), system(t, before)))
	done, err := n.changed(t.Context(), n.Epoch().Epoch, system(t, after))
	require.False(t, done)
	require.ErrorIs(t, err, ErrNotLeader)
	require.ErrorContains(t, err, "may still come about") // it may be on its way to the disk
}

func TestFollowersChangeNothing(t *testing.T) { followersChangeNothing(t) }

// The quorum system is replaced, the whole group is killed and started again with
// its old configuration, and a store that has obeyed a leader of the new epoch refuses
// decisions of the old one.
func TestAQuorumSystemIsReplaced(t *testing.T) {
	dir := t.TempDir()
	nodes := startEpochs(t, dir)
	inEpoch(t, 1, before, nodes)
	old := edictOf(t, "old", nodes)
	require.Equal(t, uint64(1), old.Epoch)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range nodes {
		if !n.LeadsGlobally() {
			requireRefused(t, n.ChangeQuorum(ctx, system(t, after)))
			break
		}
	}
	eventually(t, "a global leader replaces its quorum system", func() bool {
		l := globalLeaderOf(nodes...)
		if l == nil {
			return false
		}
		err := l.ChangeQuorum(ctx, system(t, after))
		return err == nil || l.Epoch().System == after
	})
	l := inEpoch(t, 2, after, nodes)
	eventually(t, "the change is asked for again", func() bool {
		l = globalLeaderOf(nodes...)
		return l != nil && l.ChangeQuorum(ctx, system(t, after)) == nil && l.Epoch().Epoch == 2
	})
	require.NotEqual(t, NodeID(1), l.ID(), "node 1 has no say any more")
	steps := map[event.QuorumStep]bool{}
	for _, n := range nodes {
		for e := range n.EventsSince(ctx, 0) {
			if c, ok := e.(event.QuorumChange); ok {
				steps[c.Step] = true
				if c.Step == event.QuorumEntered && c.Epoch == 2 {
					break
				}
			}
		}
	}
	require.Subset(t, steps, map[event.QuorumStep]bool{event.QuorumProposed: true, event.QuorumDecided: true, event.QuorumEntered: true})

	for _, n := range nodes {
		require.NoError(t, n.Close())
	}
	nodes = startEpochs(t, dir)
	inEpoch(t, 2, after, nodes)
	for e := range nodes[0].EventsSince(ctx, 0) {
		if c, ok := e.(event.QuorumChange); ok {
			require.Equal(t, event.QuorumIgnored, c.Step)
			require.Contains(t, c.String(), after)
			break
		}
	}
	fresh := edictOf(t, "new", nodes)
	require.Equal(t, uint64(2), fresh.Epoch)
	require.Equal(t, edict.Before, edict.Compare(old, fresh))

	checkFence(t, filepath.Join(dir, "fence"), old, fresh)
}

// checkFence has a fence obey an edict of the new quorum system, and then refuse one of
// the old.
func checkFence(t *testing.T, path string, old, fresh edict.Edict) {
	f, err := fence.Open(path)
	require.NoError(t, err)
	obey := func(edict.Verdict) error { return nil }
	_, err = f.Do("volume", &fresh, edict.Sum([]byte("new")), obey)
	require.NoError(t, err)
	_, err = f.Do("volume", &old, edict.Sum([]byte("old")), obey)
	require.ErrorIs(t, err, edict.ErrStale)
	require.NoError(t, f.Close())
}

// livingAreNotDeclaredDead declares members dead that the node hears. It is no use that they are:
// the node refuses, and all go on.
func livingAreNotDeclaredDead(t testing.TB) {
	nodes := startEpochs(t, t.TempDir())
	inEpoch(t, 1, before, nodes)
	eventually(t, "node 1 hears the others", func() bool { return nodes[0].Status().Alive.Len() == 3 })
	err := nodes[0].ForceQuorum(t.Context(), system(t, "majority:1"), timed.SetOf(2, 3))
	require.ErrorIs(t, err, epoch.ErrAlive)
	require.ErrorContains(t, err, "nodes {2 3}")
	require.Equal(t, epoch.Idle, nodes[0].Epoch().Phase)
}

func TestLivingMembersAreNotDeclaredDead(t *testing.T) { livingAreNotDeclaredDead(t) }

// Two of three members are gone for good: an administrator says so.
func TestAQuorumSystemIsForced(t *testing.T) {
	nodes := startEpochs(t, t.TempDir())
	inEpoch(t, 1, before, nodes)
	require.NoError(t, nodes[1].Close())
	require.NoError(t, nodes[2].Close())
	rest := []*Node{nodes[0], nodes[3]}
	next := system(t, "majority:1,4")
	require.ErrorIs(t, nodes[0].ForceQuorum(t.Context(), next, Set{}), epoch.ErrSystem)
	eventually(t, "node 1 hears the dead no more", func() bool {
		return !errors.Is(nodes[0].ForceQuorum(t.Context(), next, timed.SetOf(2, 3)), epoch.ErrAlive)
	})
	inEpoch(t, 2, "majority:1,4", rest)

	require.NoError(t, nodes[3].Close())
	var log lines
	again := startNode(t, Config{ID: 4, Peers: []Peer{{1, nodes[0].Addr().String()}}, StateDir: t.TempDir(), JoinQuorum: true, Timing: LAN(),
		LogHandler: slog.NewTextHandler(&log, nil)})
	inEpoch(t, 2, "majority:1,4", []*Node{nodes[0], again})
	eventually(t, "the loss of the state directory in the log", func() bool {
		return strings.Contains(log.String(), "has a vote in this epoch, and its state directory was empty")
	})
}

// A voter without the state that it must have had is told from one that begins with the group,
// and from a newcomer.
func TestALostStateDirectoryShows(t *testing.T) {
	entered := func(epoch uint64, system string) event.Event {
		return event.QuorumChange{Step: event.QuorumEntered, Epoch: epoch, System: system}
	}
	for name, c := range map[string]struct {
		first  firstStart
		events []event.Event
		lost   int // the number of the event, from 1 on; 0: none
	}{
		"begins with the group":  {firstStart{1, false, true}, []event.Event{event.Ready{}, entered(2, before)}, 0},
		"lost, and configured":   {firstStart{1, false, true}, []event.Event{entered(7, before), event.Ready{}, entered(8, before)}, 1},
		"lost, and is to join":   {firstStart{1, true, true}, []event.Event{event.Ready{}, entered(1, before)}, 2},
		"new, and voter later":   {firstStart{4, true, true}, []event.Event{entered(1, before), event.Ready{}, entered(2, after)}, 0},
		"has its state":          {firstStart{1, true, false}, []event.Event{entered(7, before)}, 0},
		"another step of change": {firstStart{1, true, true}, []event.Event{event.QuorumChange{Step: event.QuorumDecided, System: before}}, 0},
	} {
		lost := 0
		for i, e := range c.events {
			if c.first.lost(e) {
				require.Zero(t, lost, name)
				lost = i + 1
			}
		}
		require.Equal(t, c.lost, lost, name)
	}
}

// The node that leads says that a voter comes back without its state directory, and that one says
// itself that it has none. One that comes back with it is not accused.
func TestWhoHasLostItsStateDirectoryIsNamed(t *testing.T) {
	dir := t.TempDir()
	nodes := startEpochs(t, dir)
	leader := inEpoch(t, 1, before, nodes)
	id := NodeID(1)
	if leader.ID() == id {
		id = 2
	}
	accuser := func() *Node { // the leader, unless a busy machine made another one
		for _, n := range nodes {
			s := n.Status()
			if slices.ContainsFunc(s.Peers, func(p PeerStatus) bool { return p.ID == id && p.Forgot }) {
				return n
			}
		}
		return nil
	}
	again := func(dir string) (log *lines) {
		log = new(lines)
		cfg := nodes[id-1].Config()
		cfg.Peers, cfg.StateDir, cfg.LogHandler = nil, dir, slog.NewTextHandler(log, nil)
		for _, other := range nodes {
			if other.ID() != id {
				cfg.Peers = append(cfg.Peers, Peer{other.ID(), other.Addr().String()})
			}
		}
		require.NoError(t, nodes[id-1].Close())
		nodes[id-1] = startNode(t, cfg)
		eventually(t, "a leader has its vote", func() bool {
			l := globalLeaderOf(nodes...)
			return l != nil && l.View().View.Has(Incarnation{Node: id, Boot: nodes[id-1].Status().Boot})
		})
		return log
	}
	log := again(dir)
	require.NotContains(t, log.String(), "knows nothing of this node")
	require.Nil(t, accuser())

	log = again(t.TempDir())
	require.Regexp(t, `level=WARN msg="the state directory knows nothing of this node, which has a vote in majority:1,2,3: `, log.String())
	eventually(t, "the leader names it", func() bool { return accuser() != nil })
	for e := range accuser().EventsSince(t.Context(), 0) {
		if f, ok := e.(event.PeerForgot); ok {
			require.Equal(t, id, f.Peer)
			require.Equal(t, nodes[id-1].Status().Boot, f.Boot)
			require.EqualValues(t, 1, f.Starts)
			require.GreaterOrEqual(t, f.Before, f.Starts, "whoever was too busy to hear the second process knows of the first")
			break
		}
	}
}

// As long as survivors have not answered, a node that was told so says who is held to be dead.
func TestTheDeadAreNamed(t *testing.T) {
	n := startNode(t, Config{ID: 1, Quorum: system(t, before), StateDir: t.TempDir(), Timing: LAN()})
	require.NoError(t, n.ForceQuorum(t.Context(), system(t, "majority:1,2"), timed.SetOf(3)))
	a := n.Epoch()
	require.Equal(t, EpochAnswer{Epoch: 1, System: before, Phase: a.Phase, Next: "majority:1,2", Dead: timed.SetOf(3), Voters: timed.SetOf(1, 2, 3), Missing: timed.SetOf(2, 3)}, a)
	require.NotEqual(t, epoch.Idle, a.Phase)
}

func TestWhereAQuorumSystemStays(t *testing.T) {
	n := startNode(t, Config{ID: 1, Quorum: system(t, "majority:1"), Timing: LAN()})
	require.Equal(t, EpochAnswer{Epoch: 1, System: "majority:1", Voters: timed.SetOf(1), Static: true}, n.Epoch())
	require.ErrorIs(t, n.ChangeQuorum(t.Context(), system(t, before)), ErrStaticQuorum)
	require.ErrorIs(t, n.ForceQuorum(t.Context(), system(t, before), Set{}), ErrStaticQuorum)
	ordered := startNode(t, Config{ID: 1, Quorum: system(t, "majority:1"), StateDir: t.TempDir(), Timing: LAN(), Broadcast: &BroadcastConfig{RequireQuorum: true}})
	require.True(t, ordered.Epoch().Static, "no replicated state says that it may change")
	require.ErrorIs(t, ordered.ChangeQuorum(t.Context(), system(t, before)), ErrStaticQuorum)
	require.ErrorIs(t, ordered.ForceQuorum(t.Context(), system(t, before), timed.SetOf(1)), ErrStaticQuorum)
	_, err := Start(t.Context(), Config{ID: 1, JoinQuorum: true, Timing: LAN()})
	require.ErrorContains(t, err, "JoinQuorum: needs a StateDir")
}

func TestADamagedEpochIsNoEpoch(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{ID: 1, Quorum: system(t, "majority:1"), StateDir: dir, Timing: LAN(), Listen: "127.0.0.1:0"}
	n, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	path := filepath.Join(dir, "node-1.epoch")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[len(b)/2] ^= 1
	require.NoError(t, os.WriteFile(path, b, 0o600))
	_, err = Start(t.Context(), cfg)
	require.ErrorIs(t, err, ErrDamaged)
}

// A node whose write fails stops, and has said nothing of the unwritten state.
func TestANodeThatCannotWriteStops(t *testing.T) {
	dir := t.TempDir()
	n := startNode(t, Config{ID: 1, Quorum: system(t, "majority:1"), StateDir: dir, Timing: LAN()})
	eventually(t, "it leads globally", n.LeadsGlobally)
	path := filepath.Join(dir, "node-1.epoch")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "taken"), 0o700))
	eventually(t, "it stops", func() bool { // on a busy machine it may not lead just now, and writes nothing
		require.Error(t, n.ChangeQuorum(t.Context(), system(t, "majority:1,2")))
		select {
		case <-n.Done():
			return true
		default:
			return false
		}
	})
	require.ErrorContains(t, n.Err(), "cannot write the epoch")
}
