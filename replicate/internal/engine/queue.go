package engine

import (
	"context"
	"sync"
)

// queue is a queue of work. Putting some in never waits, so that the machine's loop does
// not: it must hear of views even while the application hangs.
type queue[T any] struct {
	mu     sync.Mutex
	blocks [][]T // of blockItems each, but the last; from head in the first
	head   int
	count  int
	spare  []T // a block that was taken empty, or nil
	filled chan struct{}

	// With a weight, the queue is full while more than limit waits, and until half of it
	// is taken.
	weight func(*T) int
	limit  int
	weighs int
	full   bool
	eased  chan struct{} // it is not full any more
}

// blockItems is how many items have their places in one piece of memory, so that a queue
// that grows long is not copied, and one that gets short gives memory back, but for a block.
const blockItems = 256

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

// block returns an empty block, which is the spare one if there is one.
func (q *queue[T]) block() []T {
	b := q.spare
	q.spare = nil
	if b == nil {
		b = make([]T, 0, blockItems)
	}
	return b
}

// take waits for the first item.
func (q *queue[T]) take(ctx context.Context) (x T, err error) {
	for {
		if x, ok := q.first(); ok {
			return x, nil
		}
		select {
		case <-q.filled:
		case <-ctx.Done():
			return x, ctx.Err()
		}
	}
}

func (q *queue[T]) first() (x T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count == 0 {
		return x, false
	}
	var none T
	first := q.blocks[0]
	if q.weight != nil {
		q.weighs -= q.weight(&first[q.head])
	}
	x, first[q.head] = first[q.head], none
	q.count--
	switch q.head++; {
	case q.count == 0:
		q.blocks[0], q.head = first[:0], 0
	case q.head == len(first):
		q.spare = first[:0]
		q.blocks[0], q.blocks, q.head = nil, q.blocks[1:], 0
	}
	if q.full && q.weighs <= q.limit/2 {
		q.full = false
		signal(q.eased)
	}
	return x, true
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
