package lab

import "fmt"

func safety(v *observation) (bool, error) {
	if !v.g.whole() {
		return false, nil
	}
	best := v.ranking.Best(v.up.set())
	for id := range v.up.all() {
		if e := v.elected[id]; e != 0 && e != best {
			return true, fmt.Errorf("process %d takes %d for the leader, not the best, %d", id, e, best)
		}
	}
	return true, nil
}

func liveness(v *observation) (bool, error) {
	if !v.g.whole() {
		return false, nil
	}
	for id := range v.up.all() {
		if v.elected[id] == 0 {
			return true, fmt.Errorf("process %d has elected nobody", id)
		}
	}
	return true, nil
}
