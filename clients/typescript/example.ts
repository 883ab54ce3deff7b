// Prints the leader, the clock and the oldest event: node dist/example.js URL TOKEN
import { connect, events } from "./client.js";

const [url, token] = process.argv.slice(2);
if (url === undefined || token === undefined) {
  throw new Error("usage: example.js URL TOKEN");
}
const node = connect({ url, token });
const leader = await node.GET("/v1/leader");
console.log(leader.data?.up_to_date ? `node ${leader.data.leader} leads` : "no leader is known");
const clock = await node.GET("/v1/clock");
console.log(`group time ${clock.data?.time} ± ${clock.data?.deviation_ns ?? "unknown"} ns`);
const refused = await node.GET("/v1/why", { params: { query: { about: "rain" } } });
console.log(`an error: ${refused.error?.error}`);
for await (const event of events({ url, token }, "0")) {
  console.log(`${event.kind}: ${event.text}`);
  break;
}
