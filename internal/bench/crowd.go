package bench

import (
	"errors"
	"sync"
	"time"
)

// crowd is a set of children that only report an address.
type crowd struct {
	children []*child
	peers    []address
}

// start starts a child and waits for its address.
func (c *crowd) start(launch Launcher, j *job) error {
	addr := make(chan string, 1)
	one, err := launch.start(j, func(r *report) {
		if r.Addr != "" {
			addr <- r.Addr
		}
	})
	if err != nil {
		return err
	}
	c.children = append(c.children, one)
	select {
	case a := <-addr:
		c.peers = append(c.peers, address{j.ID, a})
		return nil
	case <-one.over:
		return one.err()
	case <-time.After(answerWait):
		return errors.New("a child did not start")
	}
}

// stop ends all children.
func (c *crowd) stop() {
	var done sync.WaitGroup
	for _, one := range c.children {
		done.Go(one.stop)
	}
	done.Wait()
}
