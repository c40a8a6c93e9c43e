import type { AutocompleteItem } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { fuzzyMatch } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { toSingleLine } from "../../terminal-text.ts";
import type { CompletableCommand } from "./completable-command.ts";

const MAX_DESCRIPTION_COLUMNS = 200;
// Names that begin as it is written come before all others.
const BEGINNING_BONUS = 1_000;

/**
 * The commands that what is written behind the slash may become, the likeliest first; each under the one of its names that
 * fits best. Without anything written all of them, in their order.
 */
export function findCommands(commands: readonly CompletableCommand[], written: string): AutocompleteItem[] {
  const found = commands.flatMap((command) => {
    const names = written === "" ? [command.name] : [command.name, ...(command.aliases ?? [])];
    const best = names.flatMap((name) => scoreName(name, written)).sort(byScore)[0];
    return best ? [{ ...best, command }] : [];
  });
  return found.sort(byScore).map(({ name, command }) => ({
    value: `/${name}`,
    label: `/${name}`,
    description: toSingleLine(describe(name, command), MAX_DESCRIPTION_COLUMNS),
  }));
}

function scoreName(name: string, written: string): { name: string; score: number }[] {
  if (written === "") return [{ name, score: 0 }];
  const { matches, score } = fuzzyMatch(written, name);
  if (!matches) return [];
  return [{ name, score: name.startsWith(written.toLowerCase()) ? score - BEGINNING_BONUS : score }];
}

function describe(name: string, command: CompletableCommand): string {
  return name === command.name ? command.description : `${command.description} (/${command.name})`;
}

function byScore(left: { score: number }, right: { score: number }): number {
  return left.score - right.score;
}
