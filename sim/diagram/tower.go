package diagram

import "slices"

// Texts above the lanes stand in rows, lowest first, each with a pole down to
// the lanes. An item is one such text: the x of its pole, and its width.
type towerItem struct{ x, width float64 }

// A spot is where an item stands: its row, or -1 if there is no room, and the
// extent of its text.
type spot struct {
	row    int
	x0, x1 float64
}

// A tower places items into rows so that no text meets another one. If it can,
// it also keeps poles clear of texts; else texts interrupt poles.
type tower struct {
	left, right float64 // the bounds of texts
	gap         float64 // between a pole and its text
	air         float64 // between texts
	rows        [maxTowerRows][]spot
	poles       [maxTowerRows][]float64 // those that end in the row
	through     []float64               // poles through all rows, never interrupted
	height      int                     // rows in use
}

// place puts the item into the lowest row with room right of its pole or, if
// there is none, left of it; at best where no pole and no text cross.
func (t *tower) place(item towerItem) spot {
	for _, strict := range [...]bool{true, false} {
		for row := range t.rows {
			if strict && !t.poleFree(item.x, row) {
				break
			}
			for _, x0 := range [...]float64{item.x + t.gap, item.x - t.gap - item.width} {
				s := spot{row, x0, x0 + item.width}
				if s.x0 < t.left || s.x1 > t.right || !t.free(s, strict) {
					continue
				}
				t.rows[row] = append(t.rows[row], s)
				t.poles[row] = append(t.poles[row], item.x)
				t.height = max(t.height, row+1)
				return s
			}
		}
	}
	return spot{row: -1}
}

// poleFree reports whether a pole at x passes the texts of the rows below.
func (t *tower) poleFree(x float64, row int) bool {
	for _, lower := range t.rows[:row] {
		for _, s := range lower {
			if x > s.x0-1 && x < s.x1+1 {
				return false
			}
		}
	}
	return true
}

func (t *tower) free(s spot, strict bool) bool {
	for _, o := range t.rows[s.row] {
		if s.x0 < o.x1+t.air && o.x0 < s.x1+t.air {
			return false
		}
	}
	crossed := func(x float64) bool { return x > s.x0-1 && x < s.x1+1 }
	if slices.ContainsFunc(t.through, crossed) {
		return false
	}
	for _, higher := range t.poles[s.row:] {
		if strict && slices.ContainsFunc(higher, crossed) {
			return false
		}
	}
	return true
}
