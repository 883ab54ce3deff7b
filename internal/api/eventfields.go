package api

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
)

// fillFields fills in the fields of an event's wire form. A tag `api:"peer"` in the
// event's type names the field by its name in JSON. Names joined by + get a part each.
// With the option omitzero, a zero duration is left out. An unknown bound is always
// left out.
func fillFields(w *Event, e event.Event) {
	from, to := reflect.ValueOf(e), reflect.ValueOf(w).Elem()
	for i := range from.NumField() {
		tag := from.Type().Field(i).Tag.Get("api")
		if tag == "" {
			continue
		}
		names, option, _ := strings.Cut(tag, ",")
		for name := range strings.SplitSeq(names, "+") {
			index, ok := wireFields[name]
			if !ok {
				panic(fmt.Sprintf("api: %T has a field for %q, which an event does not have", e, name))
			}
			field := to.Field(index)
			x := wireValue(from.Field(i).Interface(), field.Type(), w)
			if option == "omitzero" && from.Field(i).IsZero() || x == nil {
				continue
			}
			field.Set(reflect.ValueOf(x))
		}
	}
}

// wireFields returns the index of each field of Event by its name in JSON.
var wireFields = func() map[string]int {
	fields := map[string]int{}
	for t, i := reflect.TypeFor[Event](), 0; i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
}()

// wireValue returns the wire form of a field, for a field of a given type, or nil if it
// is unknown. A header stands for the node, or for the event's text.
func wireValue(x any, to reflect.Type, w *Event) any {
	switch x := x.(type) {
	case event.Header:
		if to.Kind() == reflect.String {
			return w.Text
		}
		node := w.Node
		return &node
	case failaware.NodeID:
		n := int(x)
		if to.Kind() == reflect.Pointer {
			return &n
		}
		return n
	case failaware.BootID:
		return bootText(x)
	case failaware.ViewID:
		return idText(x)
	case failaware.TimelineID:
		return idText(x)
	case clocksync.SourceID:
		return sourceText(x)
	case *failaware.View:
		if to.Kind() == reflect.String {
			return idText(x.ID)
		}
		return membersOf(x)
	case failaware.Set:
		return setOf(x)
	case []failaware.Branch:
		return branchesOf(x)
	case time.Duration:
		if x == event.UnknownDelay {
			return nil
		}
		ns := int64(x)
		return &ns
	case int64:
		return uint64(x)
	case uint64, bool, string:
		return x
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	}
	return reflect.ValueOf(x).Convert(to).Interface() // a string type
}

func branchesOf(list []failaware.Branch) (out []Branch) {
	for _, b := range list {
		out = append(out, Branch{idText(b.From), setOf(b.Members)})
	}
	return out
}
