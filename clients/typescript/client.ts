// A client of the API of a node. schema.d.ts is generated from docs/openapi.yaml, which
// describes every answer; this file says how to connect, and how to read streams.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Event = components["schemas"]["Event"];

/** A change of a key, with its value as bytes; a put and an item have one. */
export type Change = Omit<components["schemas"]["KVChange"], "value"> & { value?: Uint8Array };

/** A node at http://LOOPBACK:PORT, or at https://HOST:PORT with --api-listen. */
export interface Target {
  url: string;
  token: string;
}

/** Throws an error if the token would go over a network for all to read. */
function check(target: Target): void {
  const { protocol, hostname } = new URL(target.url);
  if (protocol !== "https:" && !(protocol === "http:" && /^(localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))) {
    throw new Error(`the node at ${target.url} is not on this machine: other hosts need https://`);
  }
}

/** Returns a client whose paths, parameters and answers are those of the document. */
export function connect(target: Target): Client<paths> {
  check(target);
  return createClient<paths>({ baseUrl: target.url, headers: { Authorization: `Bearer ${target.token}` } });
}

/** Returns the bytes of a value of an answer; of an empty one, which is left out, none. */
export function bytes(value: string | undefined): Uint8Array {
  return Uint8Array.from(atob(value ?? ""), (c) => c.charCodeAt(0));
}

/** A node does not answer a request with a stream. */
export class Refusal extends Error {
  constructor(readonly status: number, text: string) {
    super(`the node answers ${status}: ${text}`);
  }
}

/**
 * Yields the events of a node after the one with the id since: "0" for all that the node
 * keeps, and new ones by default. It ends when the stream does; call it again with the id
 * of the last event to continue.
 */
export async function* events(target: Target, since?: string, signal?: AbortSignal): AsyncGenerator<Event> {
  for await (const data of stream(target, "/v1/events", since, signal)) {
    if (data !== "") {
      yield JSON.parse(data) as Event;
    }
  }
}

export interface WatchOptions {
  /** The keys that begin with it; all without it. */
  prefix?: string;
  /** Begin behind the item with this id. */
  since?: string;
  /** Begin with the present keys. */
  current?: boolean;
  /** Ends the watch, with its reason. */
  signal?: AbortSignal;
}

/** How many milliseconds a node may send nothing; one that works sends something every 15 s. */
export const silence = 45_000;

/** The answers to a watch that no other node changes. */
const final = [400, 401, 403, 404, 410, 501];

/** The codes of errors that a request ends with because node and client do not trust each other. */
const distrust = /CERT|^UNABLE_TO_|^INVALID_|^ERR_SSL_.*_ALERT_|WRONG_VERSION_NUMBER/;

/** Reports whether no later attempt is better; a browser does not tell it of an error without an answer. */
function isFinal(error: unknown): boolean {
  if (error instanceof Refusal) {
    return final.includes(error.status);
  }
  const code = (error as { cause?: { code?: unknown } }).cause?.code;
  return error instanceof SyntaxError || (typeof code === "string" && distrust.test(code));
}

/**
 * Yields the changes of keys of a store until the signal is aborted, which throws its reason. It
 * gets one node of a group or several. When the stream of one breaks, or is silent for too long,
 * it goes on behind the last item, at the next node. After a break a change may come twice, and
 * where nobody knows any more what follows, a reset comes, the present keys, and complete. A
 * request that no node takes throws a Refusal, as does a since that is gone, unless current is
 * set. A node that does not trust this client, or is not trusted, throws the error of fetch. To
 * go on later, keep the id of the last item as since.
 */
export async function* watch(nodes: Target | Target[], options: WatchOptions = {}): AsyncGenerator<Change> {
  const all = Array.isArray(nodes) ? nodes : [nodes];
  all.forEach(check); // no attempt later would be taken
  let last = options.since;
  let current = options.current ?? false;
  for (let at = 0; ; at = (at + 1) % all.length) {
    const node = all[at];
    if (node === undefined) {
      throw new Error("a watch needs a node");
    }
    options.signal?.throwIfAborted();
    const silent = new AbortController();
    let timer = setTimeout(() => silent.abort(), silence);
    const query = new URLSearchParams({ prefix: options.prefix ?? "", current: String(current) });
    const signal = options.signal ? AbortSignal.any([options.signal, silent.signal]) : silent.signal;
    try {
      const begun = (id: string): void => {
        if (last === undefined && id !== "") {
          [last, current] = [id, true];
        }
      };
      for await (const data of stream(node, `/v1/kv/watch?${query}`, last, signal, begun)) {
        clearTimeout(timer);
        if (data !== "") {
          const change = JSON.parse(data) as components["schemas"]["KVChange"];
          [last, current] = [change.id, true];
          const { value, ...rest } = change;
          yield change.kind === "put" || change.kind === "item" ? { ...rest, value: bytes(value) } : rest;
        }
        timer = setTimeout(() => silent.abort(), silence);
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFinal(error)) {
        throw error;
      }
    } finally {
      clearTimeout(timer);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Yields the data of the messages of a stream, and "" for what only shows that it goes on. */
async function* stream(target: Target, path: string, since?: string, signal?: AbortSignal, begun?: (id: string) => void): AsyncGenerator<string> {
  check(target);
  const headers: Record<string, string> = { Authorization: `Bearer ${target.token}` };
  if (since !== undefined) {
    headers["Last-Event-ID"] = since;
  }
  const answer = await fetch(target.url + path, { headers, ...(signal ? { signal } : {}) });
  if (!answer.ok || answer.body === null) {
    throw new Refusal(answer.status, await answer.text());
  }
  begun?.(answer.headers.get("Failaware-Last") ?? "");
  let rest = "";
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield "";
      for (const line of lines) {
        if (line.startsWith("data: ")) {
          yield line.slice("data: ".length);
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // the stream may have broken
  }
}
