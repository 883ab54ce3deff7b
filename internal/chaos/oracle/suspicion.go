package oracle

import "fmt"

// suspicion returns a hint for the search of the error: a value that was replaced twice, or that
// an operation saw too late.
func suspicion(ops []operation) string {
	replaced, written := map[uint64]*operation{}, map[uint64]*operation{}
	for i := range ops {
		o := &ops[i]
		v, ok := o.value()
		if !ok {
			continue
		}
		first(written, v, o)
		if o.call.Write == 0 {
			continue
		}
		first(written, o.call.Write, o)
		if p := replaced[v]; p != nil {
			return fmt.Sprintf("value %d was replaced by %v, and %v", v, p, o)
		}
		replaced[v] = o
	}
	for i := range ops {
		o := &ops[i]
		v, ok := o.value()
		if p := replaced[v]; ok && p != nil {
			if w := written[p.call.Write]; w.end.To < o.call.From {
				return fmt.Sprintf("%v, began after the end of %v, and saw value %d, which %v, had replaced", o, w, v, p)
			}
		}
	}
	return "no value was replaced twice, or seen too late"
}

// first notes that a value had been written when an operation ended, unless another one had
// ended before.
func first(written map[uint64]*operation, value uint64, o *operation) {
	if p := written[value]; p == nil || o.end.To < p.end.To {
		written[value] = o
	}
}
