package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/chaos/oracle"
)

const (
	operateEvery = 30 * time.Millisecond
	keyFor       = 5 * time.Second // how long a register is used
	keysAtOnce   = 4
	largestMore  = 10_000 // bytes of padding of an operation, which fills disks
	// firstRead is the first number of reads. The numbers of writes have no gaps, because
	// states contain them.
	firstRead = 1 << 30
)

// client writes and reads registers. Each register is used only for a while, so that the
// search for an order of its operations stays small.
func (m *member) client(ctx context.Context) {
	for rest(ctx, operateEvery) {
		if !m.quiet.Load() {
			m.operate(ctx)
		}
	}
}

func (m *member) operate(ctx context.Context) {
	call := oracle.Record{Kind: oracle.Call, Group: GroupA, From: Now()}
	call.To = call.From
	call.Key = fmt.Sprintf("%d.%d", call.From/int64(keyFor), rand.IntN(keysAtOnce))
	if rand.IntN(2) == 0 {
		call.Number = firstRead + m.reads.Add(1)
		call.Leased = rand.IntN(2) == 0
	} else {
		call.Number = m.writes.Add(1)
		call.Write = uint64(m.cfg.Node)<<48 | uint64(m.cfg.Process)<<32 | call.Number
	}
	m.log.write(call)
	one, cancel := context.WithTimeout(ctx, oneWait)
	defer cancel()
	end := oracle.Record{Kind: oracle.Return, Group: GroupA, Number: call.Number}
	look := func() { end.Result = m.state.Values[call.Key] }
	var err error
	switch {
	case call.Leased:
		_, err = m.store.ReadLeased(one, look)
	case call.Write == 0:
		_, err = m.store.ReadLatest(one, look)
	default:
		end.Result, err = m.write(one, &call)
	}
	end.From = Now()
	end.To = end.From
	switch {
	case err == nil:
		end.Outcome = oracle.Done
	case errors.Is(err, failaware.ErrOutcomeUnknown):
		end.Outcome = oracle.Unknown
	default:
		end.Outcome = oracle.Refused
	}
	m.log.write(end)
}

func (m *member) write(ctx context.Context, call *oracle.Record) (before uint64, err error) {
	more := strings.Repeat("x", rand.IntN(largestMore))
	b, err := json.Marshal(command{oracle.Client(m.cfg.Node, m.cfg.Process), call.Number, call.Key, call.Write, more})
	if err != nil {
		return 0, err
	}
	a, err := m.store.Submit(ctx, b)
	if err != nil {
		return 0, err
	}
	return a.Result.(uint64), nil
}
