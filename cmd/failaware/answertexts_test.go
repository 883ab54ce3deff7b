package main

import (
	"cmp"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

var updateTexts = flag.Bool("update-texts", false, "write the texts in testdata anew")

// answerText is an answer of the API and the text that people get.
type answerText struct {
	name  string
	shape reflect.Type
	text  func(answer any) string
}

// one is an answer whose text is that of f for the fields of T, beside those that with sets.
func one[T any](name string, with func(*T), f func(*T) string) answerText {
	return answerText{name, reflect.TypeFor[T](), func(answer any) string {
		x := answer.(*T)
		if with != nil {
			with(x)
		}
		return f(x)
	}}
}

// written is one for a text that is written.
func written[T any](name string, with func(*T), f func(io.Writer, *T) error) answerText {
	return one(name, with, func(x *T) string {
		var b strings.Builder
		if err := f(&b, x); err != nil {
			return "error: " + err.Error()
		}
		return b.String()
	})
}

func delivered(kind string) answerText {
	return one("delivery "+kind, func(d *api.Delivery) { d.Kind = kind }, func(d *api.Delivery) string {
		text, err := deliveryText(d)
		if err != nil {
			return "error: " + err.Error()
		}
		return text
	})
}

// repeated returns a list with its value so many times.
func repeated[T any](list []T, times int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Repeat(list[:1], times)
}

// measured gives a source that has an offset the values that come with it.
func measured(s *api.Source) {
	if s.OffsetNS == nil {
		s.BoundNS, s.AgeNS = nil, nil
		return
	}
	bound, age := int64(3*time.Second), int64(4*time.Second)
	s.BoundNS, s.AgeNS = cmp.Or(s.BoundNS, &bound), cmp.Or(s.AgeNS, &age)
}

func writeSource(w io.Writer, s *api.Source) error {
	return writeSources(w, &api.Sources{Sources: []api.Source{*s}})
}

func answerTexts() []answerText {
	all := []answerText{
		one("broadcast", nil, sentText),
		one("verify", nil, verificationText), one("global", nil, globalText), one("leader", nil, leaderText),
		one("view", nil, viewText), one("clock", nil, clockText), one("epoch", nil, epochText), one("state", nil, stateText),
		one("join", nil, func(j *api.Join) string { return joinText(j, "") }),
		one("join alone", nil, func(j *api.Join) string { return joinText(j, whyAlone(&api.Status{}, j)) }),
		one("member's delay", nil, func(m *api.MemberInfo) string { return delayText(m, &api.Members{}) }),
		one("member's offset", nil, func(m *api.MemberInfo) string { return offsetText(m, &api.Members{}) }),
		written("members", nil, func(w io.Writer, m *api.MemberInfo) error {
			left := int64(7 * time.Second)
			return writeMembers(w, &api.Members{Leader: api.Leader{AtMostNS: left}, View: api.View{ID: "(view)", UpToDate: true},
				Clock: api.Clock{DeviationNS: &left}, Members: []api.MemberInfo{*m}})
		}),
		written("source", measured, writeSource),
		written("own source", func(s *api.Source) { measured(s); s.Own, s.Samples = true, max(s.Samples, 9) }, writeSource),
		written("status", nil, writeStatus),
		written("counters of one", func(s *api.Status) {
			*s = api.Status{AgeNS: -1, Counters: map[string]uint64{"none": 0, "one": uint64(min(1, len(s.Counters)))}}
		}, writeStatus),
		written("kv status", nil, kvStatusText),
		written("kv status partitionable", func(a *api.KVStatus) { a.Kind = "partitionable" }, kvStatusText),
		written("kv write", nil, writeText),
		written("kv conflict", nil, func(w io.Writer, c *api.KVConflict) error {
			return conflictsText(w, &api.KVConflicts{Conflicts: []api.KVConflict{*c}})
		}),
		one("kv lease", nil, leaseText),
		written("keys of a peer", nil, func(w io.Writer, p *api.PeerKeys) error {
			return writeKeys(w, &api.Keys{Node: 1, Peers: []api.PeerKeys{*p}})
		}),
		written("keys", nil, writeKeys),
		written("why", func(a *api.Why) { a.Causes = repeated(a.Causes, 5) }, func(w io.Writer, a *api.Why) error { return writeWhy(w, a, false) }),
		written("why all", func(a *api.Why) { a.Causes = repeated(a.Causes, 5) }, func(w io.Writer, a *api.Why) error { return writeWhy(w, a, true) }),
		written("guarantees", nil, func(w io.Writer, g *guarantees) error { return g.write(w) }),
		written("outputs of a node", nil, func(w io.Writer, s *started) error { return s.announceOutputs(w) }),
		written("edict", nil, func(w io.Writer, s *shownEdict) error { return s.write(w) }),
	}
	for _, kind := range []string{"put", "item", "delete", "expire", "reset", "complete", "stale", "fresh", "progress"} {
		all = append(all, written("change "+kind, func(k *api.KVChange) { k.Kind = kind }, func(w io.Writer, k *api.KVChange) error {
			return (&watcher{g: &globals{output: cli.RegisterFormat(pflag.NewFlagSet("", 0))}, out: w}).change(*k)
		}))
	}
	for _, kind := range []string{"message", "operation", "transition", "view", "outcome-lost", "new-incarnation", "missed"} {
		all = append(all, delivered(kind))
	}
	return all
}

// fieldsOf returns the paths of the fields of an answer that can be filled, into its structs.
func fieldsOf(t reflect.Type, prefix []int) (paths [][]int) {
	for i := range t.NumField() {
		path := append(slices.Clone(prefix), i)
		if f := t.Field(i); f.Type.Kind() == reflect.Struct {
			paths = append(paths, fieldsOf(f.Type, path)...)
		} else if f.IsExported() {
			paths = append(paths, path)
		}
	}
	return paths
}

func nameOf(t reflect.Type, path []int) string {
	name := ""
	for _, i := range path {
		f := t.Field(i)
		name, t = name+"."+f.Name, f.Type
	}
	return name[1:]
}

// fill gives a field a value that no other field has.
func fill(v reflect.Value, name string, number int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		text := "(" + name + ")"
		if strings.HasSuffix(name, "Payload") || strings.HasSuffix(name, "Value") {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(number))
		if strings.HasSuffix(name, "NS") {
			v.SetInt(int64(number) * 1_000_000)
		}
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(number))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, number)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, number)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, name, number)
		v.SetMapIndex(reflect.ValueOf("("+name+")"), value)
	case reflect.Struct:
		for _, path := range fieldsOf(v.Type(), nil) {
			fill(v.FieldByIndex(path), name+"."+nameOf(v.Type(), path), number)
		}
	default:
		panic("no value for " + v.Type().String())
	}
}

// shown returns the lines of the text of an answer of which only some fields are set.
func (a *answerText) shown(paths [][]int, set ...int) []string {
	x := reflect.New(a.shape)
	for _, i := range set {
		fill(x.Elem().FieldByIndex(paths[i]), nameOf(a.shape, paths[i]), 101+i)
	}
	text := strings.ReplaceAll(a.text(x.Interface()), clockTime(time.Time{}), "00:00:00.000") // in any time zone
	text = strings.ReplaceAll(text, time.Unix(0, 0).Format("15:04:"), "00:00:")
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return append(lines, []string{""}[min(len(lines), 1):]...)
}

// describe prints the text of an answer without fields, with each one alone, with all, and
// with all but each. If the text is one line, it also prints that with each two fields that do
// not show independently: of which one hides the other, or that make another text together.
func (a *answerText) describe(w io.Writer) {
	paths := fieldsOf(a.shape, nil)
	none, all := a.shown(paths), a.shown(paths, upTo(len(paths), -1)...)
	tell := func(what string, lines, unlike []string) {
		fmt.Fprintf(w, "%s:\n", what)
		for _, l := range without(lines, unlike) {
			fmt.Fprintf(w, "\t%s\n", l)
		}
	}
	fmt.Fprintf(w, "\n== %s\n", a.name)
	tell("nothing", none, nil)
	alone := make([][]string, len(paths))
	for i, path := range paths {
		if alone[i] = a.shown(paths, i); !slices.Equal(alone[i], none) {
			tell(nameOf(a.shape, path), alone[i], none)
		}
	}
	for i := range paths {
		for j := range i {
			if both := a.shown(paths, j, i); len(none) == 1 && len(both) == 1 && (both[0] != alone[i][0] || alone[j][0] != none[0]) && (both[0] != alone[j][0] || alone[i][0] != none[0]) {
				tell(nameOf(a.shape, paths[j])+", "+nameOf(a.shape, paths[i]), both, nil)
			}
		}
	}
	tell("all", all, none)
	for i, path := range paths {
		if most := a.shown(paths, upTo(len(paths), i)...); !slices.Equal(most, all) {
			tell("all but "+nameOf(a.shape, path), most, all)
		}
	}
}

// without returns the lines that are not among others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(others, l) })
}

// upTo returns the numbers below n but one.
func upTo(n, but int) (all []int) {
	for i := range n {
		if i != but {
			all = append(all, i)
		}
	}
	return all
}

// The texts of answers show each field in its place.
func TestTextsOfAnswers(t *testing.T) {
	var b strings.Builder
	for _, a := range answerTexts() {
		a.describe(&b)
	}
	requireTexts(t, "answers.txt", "Texts of answers, by the fields that are set: lines that differ from those of an empty answer.", b.String())
}

// requireTexts requires that a file of testdata has the texts, below a line about them and one
// that says how the file is written: with -update-texts, which writes it before.
func requireTexts(t *testing.T, name, about, texts string) {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	texts = strings.ReplaceAll(texts, here+"/", "") // absolute paths are those of this machine
	got := fmt.Sprintf("%s\ngo test ./cmd/failaware -run %s -update-texts writes this file.\n%s", about, t.Name(), texts)
	file := filepath.Join("testdata", name)
	if *updateTexts {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
