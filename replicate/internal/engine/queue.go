package engine

import (
	"context"
	"sync"
)

// queue is a queue of work. Putting some in never waits, so that the machine's loop does
// not: it must hear of views even while the application hangs. One goroutine takes.
type queue[T any] struct {
	mu     sync.Mutex
	blocks [][]T // of blockItems each, but the last; from head in the first
	head   int
	taken  bool  // the item before head is still in use
	count  int   // that were not taken
	spare  [][]T // blocks that were taken empty
	filled chan struct{}

	// With a weight, the queue is full while more than limit waits, and until half of it
	// is taken.
	weight func(*T) int
	limit  int
	weighs int
	full   bool
	eased  chan struct{} // it is not full any more
}

const (
	// blockItems is how many items have their places in one piece of memory, so that a queue
	// that grows long is not copied, and one that gets short gives most memory back.
	blockItems = 256
	// spareBlocks is how many empty blocks are kept: the length goes up and down.
	spareBlocks = 4
)

func newQueue[T any](limit int, weight func(*T) int) *queue[T] {
	return &queue[T]{filled: make(chan struct{}, 1), eased: make(chan struct{}, 1), limit: limit, weight: weight}
}

func (q *queue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

func (q *queue[T]) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.full
}

func (q *queue[T]) put(x T) {
	q.mu.Lock()
	switch n := len(q.blocks); {
	case n == 0:
		q.blocks = append(q.blocks, nil) // most queues stay short
	case len(q.blocks[n-1]) == blockItems:
		q.blocks = append(q.blocks, q.block())
	}
	last := &q.blocks[len(q.blocks)-1]
	*last = append(*last, x)
	q.count++
	if q.weight != nil {
		q.weighs += q.weight(&(*last)[len(*last)-1]) // &x would move x to the heap
		q.full = q.full || q.weighs > q.limit
	}
	q.mu.Unlock()
	signal(q.filled)
}

// block returns an empty block.
func (q *queue[T]) block() []T {
	n := len(q.spare)
	if n == 0 {
		return make([]T, 0, blockItems)
	}
	b := q.spare[n-1]
	q.spare[n-1], q.spare = nil, q.spare[:n-1]
	return b
}

// take waits for the first item, which is the caller's until the next take.
func (q *queue[T]) take(ctx context.Context) (*T, error) {
	for {
		if x := q.first(); x != nil {
			return x, nil
		}
		select {
		case <-q.filled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// first takes the first item, or returns nil.
func (q *queue[T]) first() *T {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	if q.count == 0 {
		return nil
	}
	x := &q.blocks[0][q.head]
	if q.weight != nil {
		q.weighs -= q.weight(x)
	}
	q.head++
	q.count--
	q.taken = true
	if q.full && q.weighs <= q.limit/2 {
		q.full = false
		signal(q.eased)
	}
	return x
}

// drop drops the item that was taken. The caller holds mu.
func (q *queue[T]) drop() {
	if !q.taken {
		return
	}
	q.taken = false
	first := q.blocks[0]
	clear(first[q.head-1 : q.head])
	switch {
	case q.count == 0:
		q.blocks[0], q.head = first[:0], 0
	case q.head == len(first):
		if len(q.spare) < spareBlocks {
			q.spare = append(q.spare, first[:0])
		}
		q.blocks[0], q.blocks, q.head = nil, q.blocks[1:], 0
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
