// Runs the script of index.html with a clock, a node and a page that are not real.
const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')

const html = fs.readFileSync(path.join(__dirname, '../index.html'), 'utf8')
const script = /<script>([^]*)<\/script>/.exec(html)[1]

let now = 0
let timers = []
const setTimeout = (call, after) => timers.push({ at: now + after, call })
const setInterval = (call, every) => setTimeout(() => { call(); setInterval(call, every) }, every)

// pass lets time pass, in steps of 10 ms.
async function pass(ms) {
  for (const end = now + ms; ;) {
    const due = timers.filter(t => t.at <= now)
    timers = timers.filter(t => t.at > now)
    due.forEach(t => t.call())
    await new Promise(setImmediate) // what is promised comes
    if (due.length > 0) continue
    if (now >= end) return
    now += 10
  }
}

const elements = {}
const element = () => ({ textContent: '', className: '', list: [], prepend(e) { this.list.unshift(e.textContent) } })
const document = { getElementById: id => elements[id] ??= element(), createElement: element }

// The node answers, or stands still.
let still = false
const open = { '/v1/leader': 0, '/v1/view': 0 }
const answers = {
  '/v1/leader': { leader: 1, up_to_date: true, at_most_ns: 80e6 },
  '/v1/view': { members: [{ node: 1 }], up_to_date: true, at_most_ns: 10e9 },
}
function fetch(path, { signal } = {}) {
  open[path]++
  assert.ok(open[path] === 1, 'one question at a time: ' + path)
  return new Promise((resolve, reject) => {
    if (!still) {
      open[path]--
      resolve({ json: async () => answers[path] })
      return
    }
    signal?.push(() => { open[path]--; reject(new Error('aborted')) })
  })
}
const AbortSignal = { timeout(ms) { const s = []; setTimeout(() => s.forEach(call => call()), ms); return s } }

const streams = []
class EventSource {
  static CLOSED = 2
  readyState = 1
  listeners = {}
  constructor(url) { this.url = url; streams.push(this) }
  addEventListener(kind, call) { this.listeners[kind] = call }
  tell(id, kind, data) { this.listeners[kind]({ lastEventId: id, data: JSON.stringify(data) }) }
  fail() { this.readyState = EventSource.CLOSED; this.onerror?.() }
}

vm.runInNewContext(script, { document, fetch, AbortSignal, EventSource, setTimeout, setInterval, performance: { now: () => now } })

async function main() {
  await pass(50)
  assert.deepEqual([elements.leader.textContent, elements.leader.className], ['node 1', ''])
  await pass(250)
  assert.deepEqual([elements.leader.textContent, elements.leader.className], ['node 1 (0.3 s ago)', 'old'])
  assert.deepEqual([elements.view.textContent, elements.view.className], ['1', ''])

  still = true
  await pass(2000)
  for (const id of ['leader', 'view']) {
    assert.deepEqual([elements[id].textContent, elements[id].className], ['the node does not answer', 'stale'])
  }
  still = false
  await pass(2000)
  assert.match(elements.leader.textContent, /^node 1/)

  streams[0].tell('a-1', 'ready', { text: 'here' })
  streams[0].onerror?.() // the browser connects again by itself
  await pass(5000)
  assert.equal(streams.length, 1)
  streams[0].fail()
  await pass(2000)
  assert.equal(streams.length, 2)
  streams[1].fail()
  await pass(2000)
  streams[2].tell('b-2', 'elected', { text: 'it leads' })
  assert.deepEqual(streams.map(s => s.url), ['/v1/events?since=0', '/v1/events?since=a-1', '/v1/events?since=a-1'])
  assert.deepEqual(elements.events.list, ['elected: it leads', 'ready: here'])
}
main().then(() => process.exit(0), problem => { console.error(problem); process.exit(1) })
