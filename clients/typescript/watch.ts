// Prints the changes of keys of a store: node dist/watch.js URL TOKEN-FILE [PREFIX]
import { readFileSync } from "node:fs";
import { watch } from "./client.js";

const [url, file, prefix] = process.argv.slice(2);
if (url === undefined || file === undefined) {
  console.error("usage: watch.js URL TOKEN-FILE [PREFIX]");
  process.exit(2);
}
const token = readFileSync(file, "utf8").trim();
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
