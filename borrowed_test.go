package failaware

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patterned returns a payload whose first bytes determine all others.
func patterned(number uint64, size int) []byte {
	b := binary.BigEndian.AppendUint64(nil, number)
	for i := len(b); i < size; i++ {
		b = append(b, byte(number)+byte(i))
	}
	return b
}

func isPatterned(b []byte) bool {
	return len(b) >= 8 && bytes.Equal(b, patterned(binary.BigEndian.Uint64(b), len(b)))
}

// Applications find borrowed payloads as they were for as long as they may keep them,
// while their nodes go on sending and receiving in the same memory.
func TestBorrowedPayloadsStayAsTheyAre(t *testing.T) {
	const each = 1500
	nodes := startCast(t, 3, BroadcastConfig{Window: 512 << 10, MaxPayload: 100 << 10}, WAN())
	ctx, cancel := context.WithCancel(bounded(t))
	var senders, readers sync.WaitGroup
	for i, n := range nodes {
		senders.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			for k := range each {
				size := 8 + random.IntN(2000)
				if k%100 == 0 {
					size = 80_000 // put together from fragments
				}
				if _, err := n.Broadcast(ctx, patterned(random.Uint64(), size), BroadcastOptions{Order: Order(k % 2), Atomicity: WeakAtomicity}); err != nil {
					t.Error(err)
					return
				}
			}
		})
		readers.Go(func() {
			into, got := make([]Delivery, 50), 0
			for got < each {
				k, err := n.Receive(ctx, into)
				if err != nil {
					t.Error(err)
					return
				}
				if got%3 == 0 {
					time.Sleep(time.Millisecond)
				}
				for j := range k {
					if into[j].Change != nil {
						continue
					}
					got++
					if !isPatterned(into[j].Payload) {
						t.Errorf("node %v: the payload of %v is not what was sent", n.ID(), into[j].ID)
					}
				}
			}
		})
	}
	senders.Wait()
	readers.Wait()
	cancel()
}

// An application that writes to a borrowed payload hears of it, with the message.
func TestAWriteToABorrowedPayloadIsNoticed(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{CheckLent: true}})
	out, err := n.BroadcastAndWait(bounded(t), []byte("hello"), BroadcastOptions{})
	require.NoError(t, err)
	into := make([]Delivery, 1)
	for into[0].Change != nil || into[0].Payload == nil {
		_, err := n.Receive(bounded(t), into)
		require.NoError(t, err)
	}
	into[0].Payload[0] = 'H'
	require.PanicsWithValue(t, fmt.Sprintf("failaware: the application has changed the payload of message %v, which it had borrowed to read", out.ID),
		func() { _, _ = n.Receive(bounded(t), into) })
}

// Payloads of an incarnation that is over stay as they were too, and the next one
// does not mind their return.
func TestBorrowedPayloadsOutliveTheirIncarnation(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{}})
	send := func(from, to uint64) {
		for i := from; i < to; i++ {
			_, err := n.BroadcastAndWait(bounded(t), patterned(i, 1000), BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity})
			require.NoError(t, err)
		}
	}
	send(0, 100)
	into := make([]Delivery, 60)
	k, err := n.Receive(bounded(t), into)
	require.NoError(t, err)
	was := make([]Delivery, k)
	for i := range k {
		was[i] = into[i].Clone()
	}
	boot := n.Status().Boot
	restart(n)
	eventually(t, "another incarnation", func() bool { s := n.Status(); return s.Boot != boot && s.Waiting == "" })
	send(100, 300)
	require.Equal(t, was, into[:k])
	for next := uint64(0); next < 300; {
		for _, d := range into[:k] {
			if d.Change == nil {
				require.Equal(t, patterned(next, 1000), d.Payload)
				next++
			}
		}
		if next < 300 {
			k, err = n.Receive(bounded(t), into)
			require.NoError(t, err)
		}
	}
	send(300, 400) // the loop has looked at what was given back
}
