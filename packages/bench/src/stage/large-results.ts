import type { TerminalRun } from "../measure/terminal-run.ts";
import type { ScriptedTurn } from "./screen-run.ts";

/** How many model replies answer one prompt: all but the last make a call. */
export const TURNS_A_PROMPT = 10;

const REST_MS = 2_000;

/** A script of so many turns, in rounds of `TURNS_A_PROMPT`, with summaries for as many. */
export function createLargeTurns(turns: number): { turns: ScriptedTurn[]; summaries: ScriptedTurn[] } {
  const prompts = Math.ceil(turns / TURNS_A_PROMPT);
  return {
    turns: Array.from({ length: prompts }, (_, prompt) => promptTurns(prompt)).flat(),
    summaries: Array.from({ length: turns }, (_, number) => ({ text: `Summary ${number}: all went well.` })),
  };
}

/** A call whose result has just below 50 KB and is like no other. */
export function largeCall(number: number): NonNullable<ScriptedTurn["toolCalls"]>[number] {
  const command = `awk 'BEGIN { srand(${number}); for (line = 0; line < 850; line++) printf "const value%d = compute(%d, other%d); // %d\\n", line, rand() * 1e6, rand() * 1e4, rand() * 1e9 }'`;
  return { name: "bash", input: { command } };
}

/** Sends the prompt with this number and waits for its last word. @returns milliseconds. */
export async function askForLargeResults(run: TerminalRun, prompt: number): Promise<number> {
  const askedAt = performance.now();
  run.type(`Go on ${prompt}\r`);
  return (await run.nextOutput(lastWord(prompt))) - askedAt;
}

/** Waits until the runtime has tidied up behind a turn: here a turn takes ten milliseconds, with a model seconds. */
export async function restBriefly(run: TerminalRun): Promise<void> {
  await run.settle();
  await Bun.sleep(REST_MS);
}

function promptTurns(prompt: number): ScriptedTurn[] {
  const calls = Array.from({ length: TURNS_A_PROMPT - 1 }, (_, index) => ({
    text: `I look, ${prompt}.${index}.`,
    toolCalls: [largeCall(prompt * TURNS_A_PROMPT + index)],
  }));
  return [...calls, { text: lastWord(prompt) }];
}

function lastWord(prompt: number): string {
  return `END-OF-${prompt}.`;
}
