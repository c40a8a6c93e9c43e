import { composeSystemPrompt, type SystemPromptParts } from "./system-prompt.ts";

/** How many characters of a system prompt are there for what; together they are the whole of it. */
export interface PromptShares {
  /** What every session is told, and the facts of the place. */
  base: number;
  /** Those of files, of the configuration and of the command line. */
  instructions: number;
  /** What earlier sessions learned, with the request to record more. */
  knowledge: number;
}

/** @param parts those that `composeSystemPrompt` made the prompt of. */
export function measureSystemPrompt(parts: SystemPromptParts): PromptShares {
  const withoutInstructions = { ...parts, instructions: [], additional: [] };
  const all = composeSystemPrompt(parts).length;
  const uninstructed = composeSystemPrompt(withoutInstructions).length;
  const base = composeSystemPrompt({ ...withoutInstructions, knowledge: undefined }).length;
  return { base, instructions: all - uninstructed, knowledge: uninstructed - base };
}
