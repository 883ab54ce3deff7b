package failaware

import "github.com/failaware/failaware/internal/attach"

func init() {
	attach.TakeDeliveries = func(node any) (attach.Deliveries, error) {
		n := node.(*Node)
		q, err := n.consume()
		return attach.Deliveries{Queue: q, Wake: n.loop.Wake}, err
	}
}
