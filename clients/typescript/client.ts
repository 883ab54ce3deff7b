// A client of the API of a node. schema.d.ts is generated from docs/openapi.yaml, which
// describes every answer; this file says how to connect, and how to read streams.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Event = components["schemas"]["Event"];

/** A node at http://LOOPBACK:PORT, or at https://HOST:PORT with --api-listen. */
export interface Target {
  url: string;
  token: string;
}

/** Returns a client whose paths, parameters and answers are those of the document. */
export function connect(target: Target): Client<paths> {
  return createClient<paths>({ baseUrl: target.url, headers: { Authorization: `Bearer ${target.token}` } });
}

/**
 * Yields the events of a node after the one with the id since: "0" for all that the node
 * keeps, and new ones by default. It ends when the stream does; call it again with the id
 * of the last event to continue.
 */
export async function* events(target: Target, since?: string, signal?: AbortSignal): AsyncGenerator<Event> {
  const headers: Record<string, string> = { Authorization: `Bearer ${target.token}` };
  if (since !== undefined) {
    headers["Last-Event-ID"] = since;
  }
  const answer = await fetch(`${target.url}/v1/events`, { headers, ...(signal ? { signal } : {}) });
  if (!answer.ok || answer.body === null) {
    throw new Error(`the node answers ${answer.status}: ${await answer.text()}`);
  }
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
      for (const line of lines) {
        if (line.startsWith("data: ")) {
          yield JSON.parse(line.slice("data: ".length)) as Event;
        }
      }
    }
  } finally {
    await reader.cancel();
  }
}
