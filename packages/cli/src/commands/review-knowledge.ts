import type { KnowledgeEntry, ReviewItem } from "@diligent/core/run";
import { EXIT_SUCCESS } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { readInputLines } from "../line-prompt/input.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import {
  formatEntryAge,
  type KnowledgeCall,
  listReplaced,
  type OpenKnowledge,
  takeAway,
  toLocation,
} from "./knowledge.ts";

const MAX_LISTED = 200;

/**
 * Asks about each item on a terminal; elsewhere it lists them, and `keep`, `edit` and `rm` decide. What was decided
 * before the user quits stays.
 */
export async function review({ isJson, io }: KnowledgeCall, knowledge: OpenKnowledge): Promise<number> {
  const { library, root, entries } = knowledge;
  const items = library.listReviewItems(entries, root);
  if (isJson) {
    io.stdout.write(toJsonText(items));
    return EXIT_SUCCESS;
  }
  if (items.length === 0) io.stdout.write("Nothing waits for a decision.\n");
  else if (io.stdin.isTerminal) await askAboutAll(items, knowledge, io);
  else io.stdout.write(`${formatList(items)}\nDecide with diligent knowledge keep, edit or rm.\n`);
  return EXIT_SUCCESS;
}

function formatList(items: readonly ReviewItem[]): string {
  const shown = items.slice(0, MAX_LISTED).map((item) => `${describeReviewItem(item)}\n`);
  const more = items.length - shown.length;
  return sanitizeTerminalText(shown.join("") + (more > 0 ? `and ${more} more\n` : ""));
}

/** Why it waits, and what the entries say; as written, so not safe for a terminal yet. */
export function describeReviewItem(item: ReviewItem): string {
  const { entry } = item;
  switch (item.kind) {
    case "contradiction":
      return `These may contradict each other:\n${describe(entry)}\n${describe(item.other)}`;
    case "stale":
      return `Possibly stale, ${toSingleLine(item.changedFile, 80)} has changed since:\n${describe(entry)}`;
    case "new":
      return `New:\n${describe(entry)}`;
  }
}

function describe({ id, type, timestamp, content }: KnowledgeEntry): string {
  const age = formatEntryAge(timestamp, Date.now());
  return `  ${toSingleLine(id, 40)}  ${type}, ${age}: ${toSingleLine(content, 2_000)}`;
}

/** The decisions about one item, by the first letter of what the user enters. */
const CHOICES: Readonly<Record<ReviewItem["kind"], string>> = {
  contradiction: "[k]eep both, keep only the [f]irst or the [s]econd, [l]ater, [q]uit",
  stale: "[k]eep, [e]dit, [d]rop, [l]ater, [q]uit",
  new: "[k]eep, [e]dit, [d]rop, [l]ater, [q]uit",
};

async function askAboutAll(
  items: readonly ReviewItem[],
  knowledge: OpenKnowledge,
  { stdin, stdout }: CliIo,
): Promise<void> {
  const lines = readInputLines(stdin.stream())[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string | undefined> => {
    stdout.write(question);
    const { value, done } = await lines.next();
    return done ? undefined : value.trim();
  };
  try {
    for (const [index, item] of items.entries()) {
      stdout.write(`\n${index + 1} of ${items.length}. ${sanitizeTerminalText(describeReviewItem(item))}\n`);
      const isEnded = await decide(item, { knowledge, ask, say: (text) => void stdout.write(`${text}\n`) });
      if (isEnded) return;
    }
  } finally {
    await lines.return(undefined);
  }
}

/** For a decision that comes too late. */
export const DECIDED_ELSEWHERE = "Nothing was changed: this was decided elsewhere meanwhile.";

interface Asking {
  knowledge: OpenKnowledge;
  /** Undefined at the end of the input. */
  ask(question: string): Promise<string | undefined>;
  say(text: string): void;
}

/** True when the user quits. */
async function decide(item: ReviewItem, { knowledge, ask, say }: Asking): Promise<boolean> {
  const { entry } = item;
  const others = item.kind === "contradiction" ? [item.other] : [];
  for (;;) {
    const answer = await ask(`${CHOICES[item.kind]}: `);
    const letter = answer?.toLowerCase().slice(0, 1);
    if (answer === undefined || letter === "q") return true;
    if (letter === "l" || letter === "") return false;
    const save = async (decision: KnowledgeDecision, done: string) => {
      say((await saveDecision(decision, knowledge)) ? done : DECIDED_ELSEWHERE);
      return false;
    };
    if (letter === "k") return save({ kept: [entry, ...others] }, "Kept.");
    if (letter === "d" && others.length === 0) return save({ dropped: [entry] }, "Dropped.");
    const [other] = others;
    if (other && (letter === "f" || letter === "s")) {
      const [kept, dropped] = letter === "f" ? [entry, other] : [other, entry];
      const done = `Kept ${toSingleLine(kept.id, 40)}, dropped ${toSingleLine(dropped.id, 40)}.`;
      return save({ kept: [kept], dropped: [dropped] }, done);
    }
    if (letter === "e" && others.length === 0) {
      const text = await ask("New text: ");
      if (text === undefined) return true;
      try {
        await editEntry(entry, text, knowledge);
        say("Saved.");
        return false;
      } catch (error) {
        say(sanitizeTerminalText(error instanceof Error ? error.message : String(error)));
      }
    }
  }
}

/** What the user has decided about entries: those kept together do not contradict each other. */
export interface KnowledgeDecision {
  kept?: readonly KnowledgeEntry[];
  dropped?: readonly KnowledgeEntry[];
}

/**
 * Saves a decision; false if somebody else has removed or replaced one of the entries meanwhile: dropping one in favor
 * of another that is gone would lose both.
 */
export async function saveDecision(
  { kept = [], dropped = [] }: KnowledgeDecision,
  knowledge: OpenKnowledge,
): Promise<boolean> {
  const { library, path } = knowledge;
  const active = new Set(library.rankKnowledge(await library.readKnowledge(path)).map(({ id }) => id));
  if ([...kept, ...dropped].some(({ id }) => !active.has(id))) return false;
  if (kept.length > 0) await keepEntries(kept, knowledge);
  for (const entry of dropped) await dropEntry(entry, knowledge);
  return true;
}

/** Confirms entries; together they do not contradict each other. */
async function keepEntries(entries: readonly KnowledgeEntry[], knowledge: OpenKnowledge): Promise<void> {
  await knowledge.library.keepKnowledge(
    entries.map(({ id }) => id),
    await toLocation(knowledge),
  );
}

/** Removes an entry with those that it replaced: otherwise they would be shared with the model again. */
async function dropEntry(entry: KnowledgeEntry, knowledge: OpenKnowledge): Promise<void> {
  await takeAway(listReplaced(entry, knowledge.entries), knowledge);
}

/** @throws Error for a text that cannot be saved. */
export async function editEntry(
  { id }: KnowledgeEntry,
  text: string,
  knowledge: OpenKnowledge,
): Promise<KnowledgeEntry | undefined> {
  return knowledge.library.editKnowledge(id, text, await toLocation(knowledge));
}
