import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Takes the last line from the log in which a text stands, as if its process had been killed before that was written. */
export function forgetLastLine(checkpoints: string, text: string): void {
  const log = findLog(checkpoints, text);
  writeFileSync(log, readFileSync(log, "utf8").replace(/[^\n]*\n$/, ""));
}

/**
 * Lets the process that wrote the log in which a text stands have been alive at a time for the last time.
 * @param at milliseconds since the epoch.
 */
export function setLastSign(checkpoints: string, text: string, at: number): void {
  utimesSync(findLog(checkpoints, text), at / 1000, at / 1000);
}

/** The newest one: their names begin with the time. */
function findLog(checkpoints: string, text: string): string {
  const names = [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: checkpoints })];
  const logs = names.toSorted((left, right) => (basename(left) < basename(right) ? -1 : 1));
  const log = logs
    .map((name) => join(checkpoints, name))
    .findLast((path) => readFileSync(path, "utf8").includes(text));
  if (log === undefined) throw new Error(`No log holds ${text}.`);
  return log;
}
