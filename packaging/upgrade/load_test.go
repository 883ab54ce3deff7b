package upgrade

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// pace is the time between two operations of one client.
const pace = 2 * time.Millisecond

// load works on a group until stopped, with one client at each node. It keeps what was
// acknowledged.
type load struct {
	g                   *group
	stop                context.CancelFunc // of the clients and the observer
	stopRecording       context.CancelFunc
	stopped, unrecorded sync.WaitGroup
	recorded            bool

	mu           sync.Mutex
	acknowledged []string
	refused      int // operations that failed, which may have been done
	delivered    [size][]string
	last         [size]string             // id of the delivery that was kept last
	gap          map[string]time.Duration // the longest time in which no node had an answer
}

// begin starts clients that call operate with texts that are used once, and an observer.
func begin(g *group, operate func(ctx context.Context, n *node, text string) error, record bool) *load {
	l := &load{g: g, recorded: record, gap: map[string]time.Duration{}}
	ctx, stop := context.WithCancel(context.Background())
	recording, stopRecording := context.WithCancel(context.Background())
	l.stop, l.stopRecording = stop, stopRecording
	for i, n := range g.nodes {
		l.stopped.Go(func() {
			for number := 0; ctx.Err() == nil; number++ {
				text := fmt.Sprintf("%d-%d", n.id, number)
				err := operate(ctx, n, text)
				l.mu.Lock()
				if err == nil {
					l.acknowledged = append(l.acknowledged, text)
				} else {
					l.refused++
				}
				l.mu.Unlock()
				time.Sleep(pace)
			}
		})
		if record {
			l.unrecorded.Go(func() {
				for recording.Err() == nil {
					_ = l.record(recording, i) // until the process ends; then the next one
					time.Sleep(pace)
				}
			})
		}
	}
	l.stopped.Go(func() { l.observe(ctx) })
	return l
}

// end stops the clients and, when all nodes have delivered the last messages, the records.
func (l *load) end() {
	l.stop()
	l.stopped.Wait()
	require.NotEmpty(l.g.t, l.acknowledged)
	require.Eventually(l.g.t, func() bool { return l.unsure() == "" }, patient, 200*time.Millisecond)
	l.stopRecording()
	l.unrecorded.Wait()
	l.g.t.Logf("group %s: %d operations acknowledged, %d refused or unknown; the longest times without an up-to-date answer at any node: %v",
		l.g.name, len(l.acknowledged), l.refused, l.gap)
}

// unsure returns a message that was acknowledged and has been delivered at less than two
// nodes, or nothing. A quorum had it, and one node is replaced at a time.
func (l *load) unsure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := map[string]int{}
	for i := range l.delivered {
		for _, text := range l.delivered[i] {
			count[text]++
		}
	}
	for _, text := range l.acknowledged {
		if l.recorded && count[text] < size-1 {
			return text
		}
	}
	return ""
}

// observe measures for how long no node knows a leader, or is in a view, that is up to date.
func (l *load) observe(ctx context.Context) {
	last := map[string]time.Time{"leader": time.Now(), "view": time.Now()}
	for ctx.Err() == nil {
		for _, n := range l.g.nodes {
			for what := range last {
				var a struct {
					UpToDate bool `json:"up_to_date"`
				}
				if n.ask(ctx, "GET", "/v1/"+what, "", &a) == nil && a.UpToDate {
					l.gap[what] = max(l.gap[what], time.Since(last[what]))
					last[what] = time.Now()
				}
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// put writes a text into the store.
func put(ctx context.Context, n *node, text string) error {
	var a struct{ Status string }
	if err := n.ask(ctx, "POST", "/v1/kv/put?key="+text, text, &a); err != nil || a.Status != "done" {
		return fmt.Errorf("%s: %w", a.Status, err)
	}
	return nil
}

// cast broadcasts a text and waits for its delivery.
func cast(ctx context.Context, n *node, text string) error {
	var a struct{ Delivered, Transitional bool }
	err := n.ask(ctx, "POST", "/v1/broadcast?wait=true", text, &a)
	if err == nil && (!a.Delivered || a.Transitional) {
		err = errors.New("it was not delivered in order")
	}
	return err
}

// record keeps the deliveries of one process of a node.
func (l *load) record(ctx context.Context, i int) error {
	q, err := http.NewRequestWithContext(ctx, "GET", "http://node/v1/deliveries?since=0", nil)
	if err != nil {
		return err
	}
	if l.last[i] != "" { // of an earlier process it counts as the beginning
		q.Header.Set("Last-Event-ID", l.last[i])
	}
	res, err := l.g.nodes[i].client.Do(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var d struct{ ID, Payload string }
		if err := json.Unmarshal([]byte(data), &d); err != nil {
			return err
		}
		l.last[i] = d.ID
		if d.Payload == "" {
			continue
		}
		text, err := base64.StdEncoding.DecodeString(d.Payload)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.delivered[i] = append(l.delivered[i], string(text))
		l.mu.Unlock()
	}
	return errors.Join(lines.Err(), io.EOF)
}
