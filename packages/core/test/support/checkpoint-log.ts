import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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

function findLog(checkpoints: string, text: string): string {
  const logs = [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: checkpoints })].map((name) =>
    join(checkpoints, name),
  );
  const log = logs.find((path) => readFileSync(path, "utf8").includes(text));
  if (log === undefined) throw new Error(`No log holds ${text}.`);
  return log;
}
