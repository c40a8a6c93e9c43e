import { readFileSync } from "node:fs";
import { historyPaths, SessionHistory } from "@diligent/core/history";

// A separate process, so that its memory is that of the index alone: it updates the index of the home and the project
// named in its arguments, queries it, and prints the cost as JSON.

const [home = "", project = ""] = process.argv.slice(2);
const environment = { HOME: home };
const paths = historyPaths(environment);
if (!paths) throw new Error("There is no home directory.");
const history = new SessionHistory(paths);

const begin = performance.now();
const { added } = await history.update({ environment, root: project, sources: [] });
const updateMs = performance.now() - begin;

const QUERIES = 100;
const measure = (queryOf: (number: number) => Parameters<SessionHistory["search"]>[0]) =>
  Array.from({ length: QUERIES }, (_, number) => {
    const started = performance.now();
    if (!history.search(queryOf(number))?.length) throw new Error(`Nothing found for query ${number}.`);
    return performance.now() - started;
  });
const queryMs = {
  "a rare word": measure((number) => ({ query: `rare${number * 97}` })),
  "a common word": measure(() => ({ query: "common" })),
  "two common words of a project": measure(() => ({ query: "common question", project })),
  "a beginning": measure(() => ({ query: "comm*" })),
};

console.log(
  JSON.stringify({
    updateMs,
    added,
    queryMs,
    peakMegabytes: readPeakMegabytes(),
    databaseMegabytes: history.stats().bytes / 1024 / 1024,
  }),
);
history.close();

function readPeakMegabytes(): number {
  const [, kilobytes = "0"] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
  return Number(kilobytes) / 1024;
}
