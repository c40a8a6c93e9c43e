import { EXIT_SUCCESS } from "../../exit-codes.ts";
import { toJsonText } from "../../output/json-line.ts";
import { takeAway } from "./remove.ts";
import { describeShortly, type KnowledgeCall, type KnowledgeShelf } from "./shelf.ts";

// An entry recorded with the usual confidence of 0.8 gets there after four half-lives, which is four months.
const FADED_BELOW = 0.05;

/** Takes away what was replaced and what has faded; with `--dry-run` it only says what would go. */
export async function pruneKnowledge(
  { isJson, isDryRun, io }: KnowledgeCall,
  shelf: KnowledgeShelf,
): Promise<number> {
  const { library, entries } = shelf;
  const replacedIds = library.findSuperseded(entries);
  const replaced = entries.filter(({ id }) => replacedIds.has(id));
  const faded = library
    .rankWithScores(entries, Date.now())
    .flatMap(({ entry, score }) => (score < FADED_BELOW ? [entry] : []));
  if (!isDryRun) await takeAway([...replaced, ...faded], shelf);
  if (isJson) {
    const idsOf = (list: typeof faded) => list.map(({ id }) => id);
    io.stdout.write(toJsonText({ replaced: idsOf(replaced), faded: idsOf(faded), isDryRun }));
    return EXIT_SUCCESS;
  }
  if (isDryRun) for (const entry of [...replaced, ...faded]) io.stdout.write(`${describeShortly(entry)}\n`);
  const verb = isDryRun ? "Would remove" : "Removed";
  const count = replaced.length + faded.length;
  const what = `${count} ${count === 1 ? "entry" : "entries"}`;
  io.stdout.write(`${verb} ${what}: ${replaced.length} replaced, ${faded.length} faded.\n`);
  return EXIT_SUCCESS;
}
