// The server's answers. A node is asked for /v1/status and /v1/events, with a token; the
// demonstration for /demo/world and /demo/events. Both become the same picture: see
// model.js.

const kept = "failaware-token";
export const patience = 1500; // milliseconds; what was asked for longer ago counts as not answered

// Source asks one server. It calls on.world, on.store, on.event, on.connected and on.denied.
export class Source {
  constructor(kind, on) {
    this.demo = kind === "demo";
    this.on = on;
    this.every = this.demo ? 250 : 500; // milliseconds between questions
    this.last = "0"; // the id of the last event seen; "0" asks for all kept ones
    this.run = "";
    this.takeToken();
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.wake?.(); });
  }

  // takeToken moves a token from the address, which others may see, to the memory of this
  // tab.
  takeToken() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return false;
    this.setToken(token);
    history.replaceState(null, "", location.pathname);
    return true;
  }

  start() {
    this.stopped = false;
    this.began = performance.now();
    this.poll();
    if (!this.demo) this.pollStore();
    this.follow();
  }

  setToken(token) { sessionStorage.setItem(kept, token); }

  async ask(path, options = {}) {
    const headers = { ...options.headers };
    const token = sessionStorage.getItem(kept);
    if (token) headers.Authorization = `Bearer ${token}`;
    return fetch(path, { ...options, headers, cache: "no-store", credentials: "omit", redirect: "error" });
  }

  async json(path, options) {
    const res = await this.ask(path, options);
    if (res.status === 401) { this.deny(); throw new Error("the token is missing or wrong"); }
    const body = await res.json();
    if (!res.ok) throw new Error(body.error || res.statusText);
    return body;
  }

  deny() {
    this.stopped = true;
    this.on.denied(sessionStorage.getItem(kept));
  }

  // age returns how long ago the last answer was asked for, in milliseconds.
  age() { return performance.now() - this.asked; }

  // late reports whether the last answer was asked for so long ago that what is shown may have
  // changed: the server is silent, or the browser has not asked or not looked at the answer.
  late() { return !this.stopped && performance.now() - Math.max(this.began, this.asked ?? 0) > patience; }

  // poll asks for the present state until the token turns out to be wrong. It rests
  // while nobody looks.
  async poll() {
    while (!this.stopped) {
      const asked = performance.now();
      try {
        const answer = await this.json(this.demo ? "/demo/world" : "/v1/status", { signal: AbortSignal.timeout(5000) });
        this.asked = asked;
        this.stores = answer.store;
        this.on.world(answer);
        this.on.connected(!this.late());
      } catch (e) {
        if (this.stopped) return;
        this.on.connected(false, e);
      }
      await new Promise((done) => { this.wake = done; if (!document.hidden) setTimeout(done, this.every + asked - performance.now()); });
    }
  }

  // pollStore asks for the state of the store, unless the node has none. Its answer may take longer
  // than that of the node.
  async pollStore() {
    while (!this.stopped) {
      if (this.stores && !document.hidden) {
        try {
          this.on.store(await this.json("/v1/kv/status", { signal: AbortSignal.timeout(5000) }));
        } catch { this.on.store(null); }
      }
      await new Promise((done) => setTimeout(done, this.stores ? 2000 : 500));
    }
  }

  // follow reads the stream of events, and begins again after the last one when it breaks.
  // It does not use EventSource, which cannot send a token.
  async follow() {
    for (let pause = 250; !this.stopped; pause = Math.min(2 * pause, 4000)) {
      try {
        const res = await this.ask(`${this.demo ? "/demo" : "/v1"}/events`, { headers: { "Last-Event-ID": this.last } });
        if (res.status === 401) return this.deny();
        if (res.ok) {
          const run = res.headers.get("Failaware-Run") || "";
          if (this.run && run !== this.run) this.on.restarted();
          this.run = run;
          pause = 250;
          await this.read(res.body.getReader());
        }
      } catch { /* the poll reports it */ }
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  async read(reader) {
    const text = new TextDecoder();
    for (let buffer = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += text.decode(value, { stream: true });
      const blocks = buffer.split("\n\n");
      buffer = blocks.pop();
      for (const block of blocks) {
        let data = "";
        for (const line of block.split("\n")) {
          if (line.startsWith("id: ")) this.last = line.slice(4);
          if (line.startsWith("data: ")) data += line.slice(6);
        }
        if (data) this.on.event(JSON.parse(data));
      }
    }
  }

  // past returns the readings of the clock before the page was opened.
  async past() {
    return this.demo ? [] : (await this.json("/v1/clock/history")).points;
  }

  // why asks a node why a part of it is as it is: "leader", "view", "clock", or a peer.
  async why(node, about) {
    return this.json(this.demo ? `/demo/why?node=${node}&about=${about}` : `/v1/why?about=${about}`);
  }

  // act injects a fault into the demonstration, and returns a text.
  async act(action, nodes, oneWay) {
    const body = JSON.stringify({ action, nodes, one_way: oneWay });
    return (await this.json("/demo/fault", { method: "POST", body, headers: { "Content-Type": "application/json" } })).text;
  }
}
