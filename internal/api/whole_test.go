package api

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/timed"
)

var updateWhole = flag.Bool("update-whole", false, "write testdata/whole.json instead of comparing it")

// filler gives each field of a value another content, so that a field that is lost or mistaken
// for another one shows.
type filler struct{ n int64 }

// special are the contents of types with fields of their own.
func (f *filler) special(v reflect.Value) bool {
	switch x := v.Addr().Interface().(type) {
	case *timed.Set:
		*x = timed.SetOf(timed.NodeID(f.n%200+1), timed.NodeID(f.n%200+2))
	case *netip.AddrPort:
		*x = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(f.n%200 + 1)}), uint16(7000+f.n))
	case *time.Time:
		*x = time.Unix(f.n, 0).UTC()
	case *error:
		*x = fmt.Errorf("error %d", f.n)
	default:
		return false
	}
	return true
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.n)
	case reflect.Int8:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(uint64(f.n%200 + 1))
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", f.n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{fmt.Sprintf("key %d", f.n): "value"}))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i))
			}
		}
	}
}

// filled returns a value whose fields differ.
func filled[T any](f *filler) (v T) {
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

// empty returns the paths of the fields of an answer that have no content.
func empty(path string, v reflect.Value) (paths []string) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			paths = append(paths, empty(fmt.Sprintf("%s[%d]", path, i), v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			paths = append(paths, empty(path+"."+v.Type().Field(i).Name, v.Field(i))...)
		}
		return paths
	}
	if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		paths = append(paths, path)
	}
	return paths
}

// wholeAnswers returns answers about a node of which everything is known.
func wholeAnswers() map[string]any {
	f := &filler{}
	s, cfg := filled[failaware.Status](f), failaware.Config{Clock: failaware.ClockConfig{MaxDeviation: time.Hour}, Timing: filled[failaware.Timing](f), Weight: 3}
	s.Clock.Status, s.UTC = clocksync.Internal, clocksync.Knowledge{Lack: clocksync.LackMajority}
	member := s.View.View.Members[0].Node
	s.Peers[0].ID, s.Leader.Leader, s.View.View.Set = member, member, timed.SetOf(member)
	status := StatusOf(&s, &cfg, "version 1")
	status.Store = true
	status.PID, status.Global = 1, globalOf(filled[failaware.EpochAnswer](f), filled[failaware.LeaderAnswer](f))
	return map[string]any{"status": status, "source": sourceOf(new(filled[failaware.ReferenceStatus](f)), clocksync.Knowledge{State: clocksync.UTCKnown}),
		"item": itemOf(new(filled[kv.Entry](f))), "conflict": conflictOf(new(filled[kv.Conflict](f)))}
}

// No field is lost on the way to clients, or takes the place of another: the file has the
// answers. A change that is meant comes with another file: go test ./internal/api -update-whole.
func TestAnswersAreWhole(t *testing.T) { answersAreWhole(t) }

func answersAreWhole(t testing.TB) {
	answers := wholeAnswers()
	b, err := json.MarshalIndent(answers, "", "\t")
	require.NoError(t, err)
	if *updateWhole {
		require.NoError(t, os.WriteFile("testdata/whole.json", b, 0o644))
	}
	want, err := os.ReadFile("testdata/whole.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(b))
	status := answers["status"].(Status)
	status.Members = status.Members[1:] // of itself a node says less
	answers["status"] = status
	var none []string
	for name, a := range answers {
		none = append(none, empty(name, reflect.ValueOf(a))...)
	}
	require.Equal(t, []string{"status.Clock.Problem", "status.Members[0].Self"}, none, "fields without content; the clock is synchronized")
}
