// Command job runs a job at one node of the whole network, and writes its results into
// a store that refuses those of outdated leaders. See README.md.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/quorum"
)

func main() {
	id := flag.Uint("id", 0, "the id of this node: 1, 2 or 3")
	url := flag.String("store", "http://127.0.0.1:8090", "the store of examples/fenced")
	dir := flag.String("state", "", "a directory for the node's state; without it, edicts of restarted nodes may not compare")
	flag.Parse()
	all := []failaware.Peer{{ID: 1, Addr: "127.0.0.1:7161"}, {ID: 2, Addr: "127.0.0.1:7162"}, {ID: 3, Addr: "127.0.0.1:7163"}}
	if *id < 1 || *id > uint(len(all)) {
		log.Fatal("job: -id is 1, 2 or 3")
	}
	majority, err := quorum.Parse("majority:1,2,3")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	n, err := failaware.Start(ctx, failaware.Config{ID: failaware.NodeID(*id), Group: "job", Listen: all[*id-1].Addr, Peers: all,
		Quorum: majority, StateDir: *dir})
	if err != nil {
		log.Fatal(err)
	}
	put := func(ctx context.Context, key string, value []byte, e edict.Edict) error {
		return putHTTP(ctx, *url, key, value, e)
	}
	if err := work(ctx, n, time.Second, put); ctx.Err() == nil {
		log.Fatal(err)
	}
}

// work does a step of the job in each period while this node leads globally.
func work(ctx context.Context, n *failaware.Node, period time.Duration,
	put func(ctx context.Context, key string, value []byte, e edict.Edict) error) error {
	for {
		log.Printf("job: node %v waits until it leads", n.ID())
		lead, release, err := n.LeadGlobally(ctx)
		if err != nil {
			return err
		}
		for lead.Err() == nil { // reads the hardware clock
			if err := step(lead, n, put); err != nil {
				log.Print("job: ", err) // the next step tries again, under a new edict
			}
			select {
			case <-lead.Done():
			case <-time.After(period):
			}
		}
		release()
	}
}

// stepTime is how long a step may take. A store that is silent holds up the job for no longer,
// and the log tells it.
const stepTime = 5 * time.Second

// step computes a result and writes it. The edict is for exactly this key and value, and
// later than all edicts before. If the node is stopped after it got the edict, and another
// leads meanwhile and writes, the store refuses this write.
func step(ctx context.Context, n *failaware.Node, put func(context.Context, string, []byte, edict.Edict) error) error {
	value := fmt.Appendf(nil, "node %v at %s", n.ID(), n.Clock().Time.Go().Format(time.TimeOnly))
	e, err := n.Edict(payload("result", value))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	return put(ctx, "result", value, e)
}

// payload returns the payload for which the store checks an edict.
func payload(key string, value []byte) []byte { return append([]byte("PUT "+key+"\n"), value...) }

func putHTTP(ctx context.Context, url, key string, value []byte, e edict.Edict) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, url+"/"+key, bytes.NewReader(value))
	if err != nil {
		return err
	}
	r.Header.Set("Failaware-Edict", e.String())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return errors.Join(fmt.Errorf("the store says %s", answer.Status), errors.New(string(bytes.TrimSpace(text))))
	}
	log.Printf("job: wrote %s", value)
	return nil
}
