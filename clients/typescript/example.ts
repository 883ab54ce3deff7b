// Prints the leader, the clock and the oldest event: node dist/example.js URL TOKEN-FILE
import { readFileSync } from "node:fs";
import { connect, events } from "./client.js";

/** Returns what a node answers; a refusal is an error. */
function data<T>(answer: { data?: T; error?: { error: string } }): T {
  if (answer.data === undefined) {
    throw new Error(`the node refuses: ${answer.error?.error ?? "without a reason"}`);
  }
  return answer.data;
}

async function main(url: string, token: string): Promise<void> {
  const node = connect({ url, token });
  const leader = data(await node.GET("/v1/leader"));
  console.log(leader.up_to_date ? `node ${leader.leader} leads` : "no leader is known");
  const clock = data(await node.GET("/v1/clock"));
  console.log(`group time ${clock.time} ± ${clock.deviation_ns ?? "unknown"} ns`);
  const refused = await node.GET("/v1/why", { params: { query: { about: "rain" } } });
  console.log(`an error: ${refused.error?.error}`);
  for await (const event of events({ url, token }, "0")) {
    console.log(event.text);
    break;
  }
}

const [url, file] = process.argv.slice(2);
if (url === undefined || file === undefined) {
  console.error("usage: example.js URL TOKEN-FILE");
  process.exit(2);
}
try {
  await main(url, readFileSync(file, "utf8").trim()); // all users of a machine can read its command lines
} catch (error) {
  const { message, cause } = error as Error; // of a connection that fails, the cause says why
  console.error(`example: ${message}${cause instanceof Error ? `: ${cause.message}` : ""}`);
  process.exitCode = 1;
}
