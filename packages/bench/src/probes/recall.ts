import { resolvePaths, SessionManager } from "@diligent/core/run";
import { createScriptedStream, scriptedModel } from "@diligent/core/testing";

// A separate process, so that nothing is known at the first search: it resumes the only session of the project named
// in its argument, searches it as a model would, and prints the durations as JSON.

const SEARCHES = 40;
const script = { version: 1 as const, turns: [] };

const [project = "."] = process.argv.slice(2);
const manager = new SessionManager({
  cwd: project,
  paths: resolvePaths(project),
  agentConfig: {
    model: scriptedModel("none.json", script),
    systemPrompt: "",
    tools: [],
    streamFunction: createScriptedStream(script),
  },
});
if (!(await manager.resume({ mostRecent: true }))) throw new Error("There is no session.");

const times: number[] = [];
let found = 0;
for (let search = 0; search < SEARCHES; search++) {
  const begin = performance.now();
  const { matches } = await manager.searchHidden(chooseQuery(search));
  times.push(performance.now() - begin);
  found += matches.length;
}
console.log(JSON.stringify({ times, found, entries: manager.branches.entries.length }));

/** Words that are nowhere, which takes longest, words that are in many results, paths, and tools. */
function chooseQuery(search: number): Parameters<SessionManager["searchHidden"]>[0] {
  switch (search % 4) {
    case 0:
      return { query: `nowhere${search} absent` };
    case 1:
      return { query: "export compute" };
    case 2:
      return { path: `src/part-${search}.ts` };
    default:
      return { tool: "read", query: `missing${search}` };
  }
}
