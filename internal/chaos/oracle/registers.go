package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is a call of a client at a register, and its end.
type operation struct {
	log       *Log
	call, end *Record // end is nil if the process ended first
}

// value returns the value that the operation read or replaced, if it is known.
func (o *operation) value() (uint64, bool) {
	if o.end == nil || o.end.Outcome != Done {
		return 0, false
	}
	return o.end.Result, true
}

func (o *operation) String() string {
	kind := "a write"
	switch {
	case o.call.Leased:
		kind = "a read by lease"
	case o.call.Write == 0:
		kind = "a read by message"
	}
	return fmt.Sprintf("operation %d of node %d, %s", o.call.Number, o.log.Node, kind)
}

// operations returns the calls of all clients that may have had an effect, by their keys. Those of
// a client are in the order of their numbers.
func (h *History) operations() map[string][]operation {
	keys := map[string][]operation{}
	for _, l := range h.Logs {
		calls, ends := map[uint64]*Record{}, map[uint64]*Record{}
		for i := range l.Records {
			switch r := &l.Records[i]; r.Kind {
			case Call:
				calls[r.Number] = r
			case Return:
				ends[r.Number] = r
			}
		}
		for _, n := range slices.Sorted(maps.Keys(calls)) {
			c := calls[n]
			o := operation{l, c, ends[n]}
			read := c.Write == 0
			if _, known := o.value(); o.end != nil && o.end.Outcome == Refused || read && !known {
				continue
			}
			keys[c.Key] = append(keys[c.Key], o)
		}
	}
	return keys
}

// register is a register whose writes return the previous value. An output of nil is not
// known.
var register = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		written, seen := input.(uint64), output.(*uint64)
		if written == 0 {
			return *seen == state, state
		}
		return seen == nil || *seen == state, written
	},
}

// checkTime limits the search for one register.
const checkTime = 20 * time.Second

// compared counts what the judgement of registers rests on.
type compared struct {
	explained int // operations
	undecided int // registers for which the time was too short
	leased    int // reads by lease
	latest    int // reads by message
}

// registers finds registers whose histories are not linearizable.
func (h *History) registers() (out []Violation, n compared) {
	keys := h.operations()
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ops := keys[key]
		for i := range ops {
			switch c := ops[i].call; {
			case c.Leased:
				n.leased++
			case c.Write == 0:
				n.latest++
			}
		}
		list := linearize(ops)
		switch porcupine.CheckOperationsTimeout(register, list, checkTime) {
		case porcupine.Illegal:
			out = append(out, Violation{"replicated registers are linearizable",
				fmt.Sprintf("no order explains the %d operations of key %s; %s", len(list), key, suspicion(ops))})
		case porcupine.Unknown:
			n.undecided++
		default:
			n.explained += len(list)
		}
	}
	return out, n
}

// linearize returns the operations for the search. It leaves out writes of unknown outcome
// that no operation saw. A write that an operation saw ended before that operation did.
func linearize(ops []operation) (out []porcupine.Operation) {
	seen := map[uint64]int64{} // when a value had surely been written
	for i := range ops {
		if v, ok := ops[i].value(); ok {
			if at, before := seen[v]; !before || ops[i].end.To < at {
				seen[v] = ops[i].end.To
			}
		}
	}
	clients := map[string]int{}
	for i := range ops {
		o := &ops[i]
		client := fmt.Sprintf("%d.%d.%d", o.log.Node, o.log.Process, o.call.Number)
		if _, ok := clients[client]; !ok {
			clients[client] = len(clients)
		}
		p := porcupine.Operation{ClientId: clients[client], Input: o.call.Write, Output: (*uint64)(nil), Call: o.call.From, Return: math.MaxInt64}
		if v, ok := o.value(); ok {
			p.Output, p.Return = &v, o.end.To
		} else if at, ok := seen[o.call.Write]; ok {
			p.Return = at
		} else {
			continue
		}
		out = append(out, p)
	}
	return out
}

// states finds acknowledged writes that a final state does not have. It returns the number of
// acknowledged writes.
func (h *History) states() (out []Violation, acknowledged int) {
	type write struct {
		client string
		number uint64
	}
	var all []write
	for _, l := range h.Logs {
		calls := map[uint64]*Record{}
		for i := range l.Records {
			switch r := &l.Records[i]; r.Kind {
			case Call:
				calls[r.Number] = r
			case Return:
				if c := calls[r.Number]; c != nil && c.Write != 0 && r.Outcome == Done {
					all = append(all, write{Client(l.Node, l.Process), r.Number})
				}
			}
		}
	}
	for _, l := range h.Logs {
		for i := range l.Records {
			r := &l.Records[i]
			if r.Kind != State {
				continue
			}
			for _, w := range all {
				if !contains(r.Applied[w.client], w.number) {
					out = append(out, Violation{"what was acknowledged is not lost",
						fmt.Sprintf("the state of node %d in the end lacks operation %d of client %s", l.Node, w.number, w.client)})
				}
			}
		}
	}
	return out, len(all)
}

// Client returns the name of the client of a process.
func Client(node, process int) string { return fmt.Sprintf("%d.%d", node, process) }

// contains reports whether a number is in one of the runs, which are sorted.
func contains(runs [][2]uint64, n uint64) bool {
	i, _ := slices.BinarySearchFunc(runs, n, func(run [2]uint64, n uint64) int { return cmp.Compare(run[1], n) })
	return i < len(runs) && runs[i][0] <= n
}
