package diagram

import "iter"

// A placer remembers where the picture is taken, so that texts do not meet.
type placer struct{ cells map[[2]int][]rect }

// cell is the side of the squares by which a placer finds neighbours.
const cell = 64

// cellsOf yields the squares that r meets.
func cellsOf(r rect) iter.Seq[[2]int] {
	return func(yield func([2]int) bool) {
		for i := int(r.x0) / cell; i <= int(r.x1)/cell; i++ {
			for j := int(r.y0) / cell; j <= int(r.y1)/cell; j++ {
				if !yield([2]int{i, j}) {
					return
				}
			}
		}
	}
}

// free reports whether nothing taken meets r.
func (p *placer) free(r rect) bool {
	for key := range cellsOf(r) {
		for _, taken := range p.cells[key] {
			if taken.meets(r) {
				return false
			}
		}
	}
	return true
}

func (p *placer) take(r rect) {
	if p.cells == nil {
		p.cells = map[[2]int][]rect{}
	}
	for key := range cellsOf(r) {
		p.cells[key] = append(p.cells[key], r)
	}
}
