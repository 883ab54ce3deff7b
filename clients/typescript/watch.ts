// Prints the changes of keys of a store: node dist/watch.js URL TOKEN [PREFIX]
import { watch } from "./client.js";

const [url, token, prefix] = process.argv.slice(2);
if (url === undefined || token === undefined) {
  console.error("usage: watch.js URL TOKEN [PREFIX]");
  process.exit(2);
}
const stop = new AbortController();
process.once("SIGINT", () => stop.abort(new Error("interrupted")));
try {
  for await (const change of watch({ url, token }, { prefix: prefix ?? "", current: true, signal: stop.signal })) {
    const value = change.value ? ` = ${new TextDecoder().decode(change.value)}` : "";
    console.log(`${change.kind} ${change.key ?? ""}${value}`);
  }
} catch (error) {
  if (!stop.signal.aborted) {
    throw error;
  }
  console.log(stop.signal.reason.message);
}
