import { loadKnowledge } from "@diligent/core/light";
import { resolvePaths } from "@diligent/core/run";

// A separate process, since a prompt is composed once at the beginning of a process, before any code is
// compiled: it composes one with the knowledge of the project named in its argument, and prints the duration
// as JSON.

const BUDGET_TOKENS = 8_192;

const [project = "."] = process.argv.slice(2);
const { buildKnowledgeSection, createStaleCheck, readKnowledge } = await loadKnowledge();
const begin = performance.now();
const entries = await readKnowledge(resolvePaths(project).knowledge);
const read = performance.now();
const section = buildKnowledgeSection(entries, BUDGET_TOKENS, { findChangedFile: createStaleCheck(project) });
const built = performance.now();

console.log(
  JSON.stringify({
    readMs: read - begin,
    injectMs: built - read,
    entries: entries.length,
    lines: section.split("\n- [").length - 1,
  }),
);
