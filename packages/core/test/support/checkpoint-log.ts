import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Takes the last line from the log in which a text stands, as if its process had been killed before that was written. */
export function forgetLastLine(checkpoints: string, text: string): void {
  const logs = [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: checkpoints })].map((name) =>
    join(checkpoints, name),
  );
  const log = logs.find((path) => readFileSync(path, "utf8").includes(text));
  if (log === undefined) throw new Error(`No log holds ${text}.`);
  writeFileSync(log, readFileSync(log, "utf8").replace(/[^\n]*\n$/, ""));
}
