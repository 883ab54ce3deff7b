package sim

// eventKind is the kind of a scheduled event.
type eventKind uint8

const (
	eventDeliver     eventKind = iota // packet slot arg reaches node
	eventWake                         // node's timer may be due
	eventFaultEnds                    // fault arg ends
	eventTimer                        // an application's timer arg of node is due
	eventTraffic                      // node broadcasts by itself
	eventQuery                        // node queries time server arg
	eventReply                        // the reply of exchange arg reaches node
	eventTemperature                  // node's clock takes the next step of fault arg
	eventFaultBegins                  // fault arg begins
	eventSocketReady                  // node reads its socket
	eventResume                       // node's next incarnation may begin
	eventDecide                       // draft arg of node's application becomes an edict
	eventRetire                       // node gives up its lead
	eventDepart                       // the packets of node's stopped turn leave
)

// event is a scheduled event. Events are ordered by time, and simultaneous ones in
// scheduling order.
type event struct {
	at  int64
	seq uint64 // the number of the event, above the sixteen bits for node and kind
	arg int32
}

func makeEvent(at int64, seq uint64, k eventKind, node int, arg int32) event {
	return event{at: at, seq: seq<<16 | uint64(node)<<8 | uint64(k), arg: arg}
}

func (e *event) kind() eventKind { return eventKind(e.seq) }

func (e *event) node() int { return int(uint8(e.seq >> 8)) }

func (e *event) before(f *event) bool {
	return e.at < f.at || (e.at == f.at && e.seq < f.seq)
}

// queue is a four-ary heap of events. It is shallower than a binary one, and
// siblings share cache lines.
type queue struct{ heap []event }

func (q *queue) push(e event) {
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(&h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = e
}

func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		c := 4*i + 1
		if c >= len(h) {
			break
		}
		m := c
		for j := c + 1; j < len(h) && j < c+4; j++ {
			if h[j].before(&h[m]) {
				m = j
			}
		}
		if !h[m].before(&last) {
			break
		}
		h[i] = h[m]
		i = m
	}
	h[i] = last
	return top
}
