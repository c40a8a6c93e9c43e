import { readFileSync } from "node:fs";
import { resolvePaths, SessionManager } from "@diligent/core/run";
import { createScriptedStream, scriptedModel } from "@diligent/core/testing";

// A separate process, so that its memory is that of one resumed session: it resumes the only session of the
// project named in its argument, and prints the cost as JSON.

const [project = "."] = process.argv.slice(2);
const manager = new SessionManager({
  cwd: project,
  paths: resolvePaths(project),
  agentConfig: {
    model: scriptedModel("none.json", { version: 1, turns: [] }),
    systemPrompt: "",
    tools: [],
    streamFunction: createScriptedStream({ version: 1, turns: [] }),
  },
});

const begin = performance.now();
if (!(await manager.resume({ mostRecent: true }))) throw new Error(`There is no session in ${project}.`);
const resumed = performance.now();
const { messages } = manager.context;
const built = performance.now();

console.log(
  JSON.stringify({
    resumeMs: resumed - begin,
    contextMs: built - resumed,
    messages: messages.length,
    peakMegabytes: readPeakMegabytes(),
  }),
);

function readPeakMegabytes(): number {
  const [, kilobytes = "0"] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
  return Number(kilobytes) / 1024;
}
