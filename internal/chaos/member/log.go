package member

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/chaos/oracle"
)

// log is the log file of a member. One system call writes each record, so a killed process
// loses at most the last one.
type log struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

func openLog(path string) (*log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return &log{file: f}, err
}

func (l *log) write(r oracle.Record) {
	b, err := json.Marshal(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.file.Write(append(b, '\n'))
	}
	if err != nil && l.err == nil {
		l.err = err
	}
}

// failed returns the first error.
func (l *log) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// repeatEvery is the time between two records of an answer that does not change.
const repeatEvery = 20 * time.Millisecond

// claim logs the answers to one question: the first and the last of equal ones, and some
// between. One goroutine owns it.
type claim struct {
	log     *log
	key     string
	latest  oracle.Record
	written int64
	pending bool
}

// note adds an answer. An empty key means that the node claims nothing.
func (c *claim) note(key string, r oracle.Record) {
	if key != c.key && c.pending {
		c.log.write(c.latest)
	}
	changed := key != c.key
	c.key, c.latest, c.pending = key, r, false
	switch {
	case key == "":
	case changed || r.From-c.written >= int64(repeatEvery):
		c.written = r.From
		c.log.write(r)
	default:
		c.pending = true
	}
}
