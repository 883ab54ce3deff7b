// Package jsonlines lets a process and its children talk over standard input and output:
// one JSON object a line, and commands with numbers, which their answers repeat.
package jsonlines

import (
	"encoding/json"
	"io"
	"sync"
)

// Writer writes one JSON object a line. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	enc *json.Encoder
}

// NewWriter returns a writer of lines to w.
func NewWriter(w io.Writer) *Writer { return &Writer{enc: json.NewEncoder(w)} }

// Put writes v as a line. An error says that nobody reads any more: the process at the other
// end has ended, or will soon end this one. So most callers have no use for it.
func (w *Writer) Put(v any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.enc.Encode(v)
}

// Answers gives answers to those who wait for them. The zero value is ready for use, by any
// number of goroutines.
type Answers[R any] struct {
	mu      sync.Mutex
	last    int
	waiting map[int]chan R
}

// Expect returns the number for a new command, from 1 on, and the channel that gets its
// answer. It never blocks the one who calls Take.
func (a *Answers[R]) Expect() (number int, answer <-chan R) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[int]chan R{}
	}
	c := make(chan R, 1)
	a.last++
	a.waiting[a.last] = c
	return a.last, c
}

// Take gives the answer to a command to the one who expects it. A second answer, or one to
// no command, is dropped.
func (a *Answers[R]) Take(number int, r R) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.waiting[number]; c != nil {
		c <- r
		delete(a.waiting, number)
	}
}
