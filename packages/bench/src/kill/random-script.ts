import type { ScriptTurn } from "@diligent/core";
import { SOURCE_FILES, sourcePath } from "../stage/project.ts";

/** Far more than any run gets through before it is killed. */
const TURNS = 300;

/**
 * A script in which everything takes a little while: thinking and text in chunks, calls one by one and side by side,
 * and now and then an answer that ends the run. No two calls are alike, so that no run is taken for a loop.
 */
export function createRandomScript(random: () => number): { version: 1; turns: ScriptTurn[] } {
  return { version: 1, turns: Array.from({ length: TURNS }, (_, index) => createTurn(index, random)) };
}

function createTurn(index: number, random: () => number): ScriptTurn {
  const pace = { chunkDelayMs: Math.floor(random() * 6), delayMs: Math.floor(random() * 10) };
  const thinking = random() < 0.3 ? { thinking: `Thinking about ${index}. ${"And on. ".repeat(5)}` } : {};
  const text = random() < 0.6 ? { text: `Turn ${index}: ${"words and more words. ".repeat(8)}` } : {};
  if (random() < 0.1) return { ...pace, ...thinking, text: `The end of ${index}.` };
  return { ...pace, ...thinking, ...text, toolCalls: createCalls(index, random) };
}

function createCalls(index: number, random: () => number): NonNullable<ScriptTurn["toolCalls"]> {
  const count = 1 + Math.floor(random() * 4);
  const kind = random();
  return Array.from({ length: count }, (_, number) => {
    const unique = index * 10 + number;
    if (kind < 0.5)
      return {
        name: "read",
        input: { file_path: sourcePath(unique % SOURCE_FILES), offset: 1 + (unique % 37) },
      };
    if (kind < 0.8) return { name: "bash", input: { command: `sleep 0.0${number}; echo ${unique}` } };
    return { name: "write", input: { file_path: `made/${unique}.txt`, content: `${unique}\n`.repeat(50) } };
  });
}
