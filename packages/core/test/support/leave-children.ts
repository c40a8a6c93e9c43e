import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { createChildEnvironment } from "../../src/infrastructure/process/environment.ts";
import { runCommand } from "../../src/infrastructure/process/run.ts";

// Run as a program of its own: starts children that are hard to get rid of, then ends in the way that was asked for.
const [seconds, ending] = process.argv.slice(2);
await runCommand({
  argv: [
    "/bin/sh",
    "-c",
    `trap '' TERM HUP; sleep ${seconds} & setsid sleep ${seconds} & (nohup sh -c 'sleep ${seconds}; :' > /dev/null 2>&1 &); echo begun`,
  ],
  cwd: "/",
  environment: createChildEnvironment({
    environment: process.env,
    sessionId: "s",
    root: "/tmp",
    cwd: "/tmp",
  }),
  timeoutMs: 5_000,
  signal: new AbortController().signal,
  onOutput: () => {},
});
console.log("ready");
if (ending === "exit") process.exit(3);
if (ending === "throw") throw new Error("a bug");
if (ending === "tidy") await endAllProcesses();
