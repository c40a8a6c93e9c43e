import type { Move } from "./timeline/types.ts";

const NAMES: Readonly<Record<Move, string>> = {
  undo: "An undo",
  redo: "A redo",
  jump: "A jump to another place",
};

/**
 * For a person: files were left halfway, and what leads out of it.
 * @param commands what to call those that do it.
 */
export function describeHalfMove(move: Move, commands = { undo: "undo", redo: "redo" }): string {
  const same = move === "jump" ? "the same jump" : commands[move];
  const other = move === "redo" ? commands.undo : commands.redo;
  const state = `${NAMES[move]} was cut off halfway: some files are as before it, others as after it.`;
  return `${state} Until the session changes something again, ${same} goes on with it, and ${other} turns it round.`;
}
