import { resolvePaths, SessionManager } from "@diligent/core/run";
import { createScriptedStream, scriptedModel } from "@diligent/core/testing";

// A separate process, so that no code is compiled at the first compaction: it resumes the sessions of the
// project named in its argument one by one, compacts each, and prints the durations as JSON. The summarizer
// answers at once.

const SUMMARY = `## Goal\n\nContinue.\n\n## Progress\n\n${"- [x] A part of the work is done.\n".repeat(100)}\n## Critical Context\n\n- None.`;
// More than one session takes.
const SUMMARIES = 100;

const [project = "."] = process.argv.slice(2);
const summary = { text: SUMMARY, chunkChars: SUMMARY.length };
const script = {
  version: 1 as const,
  turns: [],
  summaries: Array.from({ length: SUMMARIES }, () => summary),
};

function createManager(): SessionManager {
  return new SessionManager({
    cwd: project,
    paths: resolvePaths(project),
    agentConfig: {
      model: scriptedModel("none.json", script),
      systemPrompt: "",
      tools: [],
      streamFunction: createScriptedStream(script),
    },
  });
}

const sessions = await createManager().list();
const times: number[] = [];
let tokensBefore = 0;
for (const { id } of sessions) {
  const manager = createManager();
  await manager.resume({ sessionId: id });
  const begin = performance.now();
  const outcome = await manager.compact();
  times.push(performance.now() - begin);
  if (outcome.kind !== "compacted") throw new Error(`The session ${id} was not compacted: ${outcome.kind}.`);
  tokensBefore = outcome.entry.tokensBefore;
  manager.close();
}
const [firstMs, ...others] = times;
console.log(JSON.stringify({ firstMs, nextMs: others.at(-1), tokensBefore }));
