import { join } from "node:path";
import { runCommand } from "../../src/infrastructure/process/run.ts";
import { SessionSandbox } from "../../src/sandbox/session-sandbox.ts";

// A program for tests to kill: runs a command in a box. Arguments: the directory with project, home and session; the command.
const [top = "", command = ""] = process.argv.slice(2);
const environment = { PATH: process.env.PATH, HOME: join(top, "home") };
const root = join(top, "project");
const sandbox = new SessionSandbox({
  setting: "required",
  environment,
  root,
  directory: () => join(top, "session"),
});
const state = await sandbox.sandboxState();
if (state.kind !== "boxed") throw new Error("There is no box.");
const enclosed = await state.wrapper.wrapCommand({
  argv: ["/bin/sh", "-c", command],
  cwd: root,
  environment: { PATH: process.env.PATH ?? "" },
});
await runCommand({
  ...enclosed,
  cwd: root,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  onOutput() {},
});
