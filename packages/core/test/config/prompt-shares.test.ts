import { expect, test } from "bun:test";
import {
  composeSystemPrompt,
  measureSystemPrompt,
  type SystemPromptSections,
} from "../../src/config/system-prompt.ts";

const FACTS = { cwd: "/work", projectRoot: "/work", platform: "linux", date: "2026-02-25" };

test("the shares of a system prompt add up to its length", () => {
  const parts: SystemPromptSections = {
    facts: FACTS,
    instructions: [{ path: "/work/CLAUDE.md", content: "Use tabs." }],
    additional: ["Answer in Latin."],
    knowledge: { section: "## Project Knowledge\n- [pattern] tests are in test/", isRecorded: true },
  };
  const { base, instructions, knowledge } = measureSystemPrompt(parts);
  expect(base + instructions + knowledge).toBe(composeSystemPrompt(parts).length);
  expect(instructions).toBe("\n\nInstructions from: /work/CLAUDE.md\nUse tabs.\n\nAnswer in Latin.".length);
  expect(knowledge).toBeGreaterThan(50);
});

test("without instructions and knowledge the whole prompt is the base", () => {
  const parts = { base: "Be brief.", facts: FACTS };
  const { length } = composeSystemPrompt(parts);
  expect(measureSystemPrompt(parts)).toEqual({ base: length, instructions: 0, knowledge: 0 });
});
