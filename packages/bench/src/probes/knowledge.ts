import { loadKnowledge } from "@diligent/core/light";
import { resolvePaths } from "@diligent/core/run";

// A process of its own, since a prompt is composed once at the beginning of one, with nothing compiled: it does so with the
// knowledge of the project that is named in its argument, and prints as JSON what that took.

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
