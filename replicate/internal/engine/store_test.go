package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// keeper is an application whose state a store keeps, on a machine that loses its power.
type keeper struct {
	r     *rand.Rand
	app   *words
	store *Store
	place replica.Place
	views uint64
	words int
	// position is that of the last operation, and flushed says that the view is over.
	position uint64
	flushed  bool
	// was is what the state was at each place, since the last start.
	was map[string]string
	// order are those places, and at the numbers of them by view and position.
	order []string
	at    map[replica.Point]int
}

func describe(p *replica.Place) string { return fmt.Sprintf("%+v, ordered %v", p.Named(), p.Ordered) }

// base returns how far messages are ordered when a view begins: those of absent senders
// too.
func (k *keeper) base() []broadcast.Mark {
	absent := broadcast.Mark{Node: 9, Boot: 1, Sequence: k.views}
	return broadcast.AddMark(slices.Clone(k.place.Ordered), absent)
}

// note notes what the state is at a place.
func (k *keeper) note() {
	k.was[describe(&k.place)] = strings.Join(k.app.list, " ")
	k.order = append(k.order, describe(&k.place))
	k.at[replica.Point{View: k.place.View, Position: k.position}] = len(k.order) - 1
}

// step does what a replica may tell the application to do.
func (k *keeper) step() error {
	ctx := context.Background()
	switch k.r.IntN(12) {
	case 0: // another view
		k.views++
		k.place = replica.Place{Earlier: replica.Earlier{Lineage: replica.Lineage{Label: replica.Label{byte(k.views), byte(k.views >> 8)}, Rank: k.views}},
			View: membership.ViewID{Sequence: k.views, Leader: 1, Boot: 1}, Ordered: k.base()}
	case 1: // a state of others
		k.store.dislocate()
		k.words++
		require.NoError(nil, k.app.Load(strings.NewReader(fmt.Sprintf("other%d", k.words))))
		k.views++
		k.place = replica.Place{Earlier: replica.Earlier{Lineage: replica.Lineage{Label: replica.Label{byte(k.views), byte(k.views >> 8)}, Rank: k.views}},
			View: membership.ViewID{Sequence: k.views, Leader: 1, Boot: 1}, Position: uint64(k.r.IntN(3)), Ordered: k.base()}
	default:
		if k.place.View.None() {
			return nil
		}
		k.words++
		k.position += 1 + uint64(k.r.IntN(3))
		k.flushed = k.flushed || k.r.IntN(10) == 0
		d := broadcast.Delivery{ID: messageID(uint64(k.words)), Position: k.position, Flushed: k.flushed, Payload: fmt.Appendf(nil, "w%d", k.words)}
		if err := k.store.apply(ctx, &d, replica.Point{View: k.place.View, Position: d.Position}); err != nil {
			return err
		}
		k.app.Apply(d)
		if k.place.Position = d.Position; d.Flushed { // the operation names the state
			k.place.Lineage, k.place.Position = k.store.keeper.Place().Lineage, 0
		}
		k.place.Ordered = broadcast.AddMark(k.place.Ordered, broadcast.Mark{Node: d.Sender, Boot: d.Boot, Sequence: d.Sequence})
		k.note()
		return k.store.compact(ctx)
	}
	k.position, k.flushed = k.place.Position, false
	k.note()
	p := k.place
	p.Ordered = slices.Clone(p.Ordered)
	return k.store.locate(ctx, &p)
}

// keepsPlaces requires that a state which is found after a loss of power is one that the
// application had, under its name, and that nothing is older than what had been reported.
func keepsPlaces(t testing.TB, seeds uint64) (found int) {
	for seed := range seeds {
		k := &keeper{r: rand.New(rand.NewPCG(seed, 3))}
		disk, sure := disktest.New(), ""
		k.was, k.at = map[string]string{describe(&k.place): ""}, map[replica.Point]int{}
		for range 5 {
			disk.FailAfter(20 + k.r.IntN(150))
			k.app = &words{}
			j, err := journal.OpenOn(disk, journal.Options{Segment: 1 << 10, ID: seed + 1})
			if errors.Is(err, disktest.ErrPower) {
				disk = disk.Survivor(k.r)
				continue
			}
			require.NoError(t, err, "seed %d", seed)
			store, err := newStore(j, k.app, keep.Options{Least: 100})
			if errors.Is(err, disktest.ErrPower) {
				disk = disk.Survivor(k.r)
				continue
			}
			require.NoError(t, err, "seed %d", seed)
			k.store = store
			name := describe(store.keeper.Place())
			was, ok := k.was[name]
			require.True(t, ok, "seed %d: nothing was at %s", seed, name)
			require.Equal(t, was, strings.Join(k.app.list, " "), "seed %d: at %s", seed, name)
			if sure != "" && len(k.order) > 0 {
				i, j := -1, -1
				for n, o := range k.order {
					if o == sure {
						i = n
					}
					if o == name {
						j = n
					}
				}
				require.GreaterOrEqual(t, j, i, "seed %d: %s is older than %s, which was on the disk", seed, name, sure)
				found++
			}
			k.place, k.order, sure = *store.keeper.Place(), nil, ""
			k.place.Ordered = store.Ordered()
			k.position, k.flushed = k.place.Position, false
			k.at = map[replica.Point]int{}
			k.was = map[string]string{}
			k.note()
			for err = nil; err == nil; {
				err = k.step()
			}
			require.ErrorIs(t, err, disktest.ErrPower, "seed %d", seed)
			if at, _, _ := store.take(); !at.View.None() {
				sure = k.order[k.at[at]]
			}
			_ = store.Close()
			disk = disk.Survivor(k.r)
			k.misses(t, seed, disk, sure)
		}
	}
	return found
}

// misses requires that a store with a missing file is refused with the name of a file, or is
// as good as with it.
func (k *keeper) misses(t testing.TB, seed uint64, disk *disktest.Disk, sure string) {
	files := disk.Files()
	for lost := range files {
		rest := maps.Clone(files)
		delete(rest, lost)
		if !slices.ContainsFunc(slices.Collect(maps.Keys(rest)), func(name string) bool { return !strings.HasSuffix(name, ".new") }) {
			continue // a directory without files, or with unfinished ones only, looks like a new one
		}
		j, err := journal.OpenOn(disktest.Of(rest), journal.Options{Segment: 1 << 10})
		app, store := &words{}, (*Store)(nil)
		if err == nil {
			store, err = newStore(j, app, keep.Options{})
		}
		if err != nil {
			require.True(t, disktest.Blames(err, lost), "seed %d: without %s: %v", seed, lost, err)
			continue
		}
		name := describe(store.keeper.Place())
		require.NoError(t, store.Close())
		// The state with which the store was opened was on the disk.
		require.GreaterOrEqual(t, slices.Index(k.order, name), max(0, slices.Index(k.order, sure)), "seed %d: without %s, %s is too old", seed, lost, name)
		require.Equal(t, k.was[name], strings.Join(app.list, " "), "seed %d: without %s, at %s", seed, lost, name)
	}
}

func TestAStoreKeepsPlacesWithoutPower(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() || race.Enabled {
		seeds = 100
	}
	require.Greater(t, keepsPlaces(t, seeds), int(seeds))
}

// What the loop of the node is told of the state stays as it is while the state goes on.
func TestPositionsThatAreRecalledStay(t *testing.T) {
	s := storeOn(t, disktest.New(), &words{})
	defer s.Close()
	was := []broadcast.Mark{{Node: 1, Boot: 2, Sequence: 3}}
	require.NoError(t, s.locate(t.Context(), &replica.Place{View: membership.ViewID{Sequence: 1, Leader: 1, Boot: 2}, Ordered: slices.Clone(was)}))
	recalled := s.Ordered()
	require.NoError(t, s.apply(t.Context(), &broadcast.Delivery{ID: messageID(4), Position: 1}, replica.Point{}))
	require.Equal(t, was, recalled)
	require.NotEqual(t, was, s.Ordered())
}

// An engine hears at once with which state it begins.
func TestARecoveryIsToldAtOnce(t *testing.T) {
	s := storeOn(t, disktest.New(), &words{})
	defer s.Close()
	require.Len(t, s.News(), 1)
	_, _, events := s.take()
	require.Equal(t, replica.EventRecovered, events[0].Kind)
}
