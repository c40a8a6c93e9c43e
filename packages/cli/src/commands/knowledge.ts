import {
  findProjectRoot,
  homeDirectory,
  loadKnowledge,
  loadKnowledgeTrust,
  nearestNames,
  resolvePaths,
} from "@diligent/core/light";
import type { KnowledgeEntry, KnowledgeUse, ReviewItem } from "@diligent/core/run";
import { isSubcommandWord, type SubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { formatAge, formatLocalMinute, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { readSubcommandArguments, unknownAction } from "./arguments.ts";

// Text for a pager or a file has no fixed width.
const DEFAULT_COLUMNS = 100;
const MIN_CONTENT_COLUMNS = 20;
const INDENT = "    ";

interface ListedKnowledge {
  entry: KnowledgeEntry;
  score: number;
  /** Undefined for an entry that no model was given yet. */
  use: KnowledgeUse | undefined;
  /** The first of its files that changed since. */
  changedFile: string | undefined;
}

/** Lists the knowledge shared with the model, the highest score first: two lines per entry, facts and content. */
function listKnowledge({ isJson, io }: KnowledgeCall, knowledge: OpenKnowledge): number {
  const { library, root, entries } = knowledge;
  const now = Date.now();
  const findChangedFile = library.createStaleCheck(root);
  const uses = readUses(knowledge);
  const listed = library.rankWithScores(entries, now).map(({ entry, score }) => ({
    entry,
    score,
    use: uses.get(entry.id),
    changedFile: findChangedFile(entry),
  }));
  if (isJson) io.stdout.write(toJsonText(listed.map(toJson)));
  else if (entries.length === 0) io.stdout.write("No knowledge yet.\n");
  else {
    const columns = io.stdout.columns ?? DEFAULT_COLUMNS;
    const lines = listed.map((each) => formatListed(each, { now, columns }));
    io.stdout.write(lines.join("") + describeSuperseded(entries.length - listed.length));
    io.stdout.write(describeWaiting(library.listReviewItems(entries, root)));
  }
  return EXIT_SUCCESS;
}

function toJson({ entry, score, use, changedFile }: ListedKnowledge): object {
  return { ...entry, score, uses: use?.count ?? 0, ...(changedFile !== undefined && { changedFile }) };
}

/** Without the counts, which are only a statistic, if they cannot be read. */
function readUses({ library, root, environment }: OpenKnowledge): ReadonlyMap<string, KnowledgeUse> {
  try {
    return library.readKnowledgeUses(root, environment);
  } catch {
    return new Map();
  }
}

/** New entries alone are nothing to be concerned about. */
function describeWaiting(items: readonly ReviewItem[]): string {
  const count = items.filter(({ kind }) => kind !== "new").length;
  if (count === 0) return "";
  const what = count === 1 ? "1 decision about a" : `${count} decisions about`;
  const which = count === 1 ? "stale or contradicting entry waits" : "stale or contradicting entries wait";
  return `\n${what} ${which} for you: diligent knowledge review\n`;
}

function formatListed(
  { entry, use, changedFile }: ListedKnowledge,
  { now, columns }: { now: number; columns: number },
): string {
  const { id, type, confidence, timestamp, sessionId } = entry;
  const facts = [
    toSingleLine(id, 40),
    type.padEnd("preference".length),
    confidence.toFixed(2),
    formatEntryAge(timestamp, now),
    ...(sessionId === undefined ? [] : [`session ${toSingleLine(sessionId, 40)}`]),
    ...(use === undefined ? [] : [describeUse(use)]),
    ...(changedFile === undefined ? [] : [`possibly stale: ${toSingleLine(changedFile, 60)} has changed`]),
  ];
  const content = toSingleLine(entry.content, Math.max(MIN_CONTENT_COLUMNS, columns - INDENT.length));
  return `${facts.join("  ")}\n${INDENT}${content}\n`;
}

function describeUse({ count }: KnowledgeUse): string {
  return `used in ${count} ${count === 1 ? "session" : "sessions"}`;
}

/** How long ago, for a person; an unparseable time is shown as it is. */
export function formatEntryAge(timestamp: string, now: number): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? "at an unknown time" : formatAge(now - time);
}

function describeSuperseded(count: number): string {
  if (count === 0) return "";
  const what = count === 1 ? "1 replaced entry is" : `${count} replaced entries are`;
  return `\n${what} not listed; diligent knowledge prune removes them.\n`;
}

/** Shows all details of an entry and of those it replaced. */
function showKnowledge({ ids, isJson, io }: KnowledgeCall, knowledge: OpenKnowledge): number {
  const entry = findEntry(knowledge.entries, ids[0] ?? "");
  const now = Date.now();
  if (isJson) io.stdout.write(toJsonText({ ...entry, ...findDetails(entry, knowledge, now) }));
  else io.stdout.write(sanitizeTerminalText(formatKnowledge(entry, knowledge, now)));
  return EXIT_SUCCESS;
}

/** An entry with all details, as written: not safe for a terminal yet. */
export function formatKnowledge(entry: KnowledgeEntry, knowledge: OpenKnowledge, now: number): string {
  return formatEntry(entry, findDetails(entry, knowledge, now), now);
}

function findDetails(entry: KnowledgeEntry, knowledge: OpenKnowledge, now: number): Details {
  const { library, root, entries } = knowledge;
  return {
    score: library.scoreKnowledge(entry, now),
    use: readUses(knowledge).get(entry.id),
    changedFile: library.createStaleCheck(root)(entry),
    replacedBy: entries.filter(({ id, supersedes }) => supersedes === entry.id && id !== entry.id),
    replaced: listReplaced(entry, entries).slice(1),
  };
}

interface Details {
  score: number;
  use: KnowledgeUse | undefined;
  changedFile: string | undefined;
  replacedBy: readonly KnowledgeEntry[];
  /** Newest first. */
  replaced: readonly KnowledgeEntry[];
}

function formatEntry(entry: KnowledgeEntry, details: Details, now: number): string {
  const { changedFile, use } = details;
  const facts: [string, string | undefined][] = [
    ["Knowledge", entry.id],
    ["Type", entry.type],
    ["Confidence", entry.confidence.toFixed(2)],
    ["Score", details.score.toFixed(2)],
    ["Recorded", formatTime(entry.timestamp, now)],
    ["Reviewed", entry.reviewed === undefined ? undefined : formatTime(entry.reviewed, now)],
    ["Session", entry.sessionId],
    ["Entry", entry.entryId],
    ["Used", use && `${describeUse(use).replace("used ", "")}, last ${formatTime(use.last, now)}`],
    ["Tags", entry.tags?.join(", ")],
    ["Files", entry.files?.map(({ path }) => path).join(", ")],
    ["Stale", changedFile === undefined ? undefined : `possibly: ${changedFile} has changed since`],
  ];
  const lines = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(11)} ${value}`],
  );
  const history = [
    ...details.replacedBy.map((other) => `Replaced by ${formatOther(other, now)}`),
    ...details.replaced.map((other) => `Replaces ${formatOther(other, now)}`),
  ];
  return `${[lines.join("\n"), indent(entry.content), ...history].join("\n\n")}\n`;
}

function formatOther(entry: KnowledgeEntry, now: number): string {
  const { id, type, timestamp, content } = entry;
  return `${id}, ${type}, ${formatTime(timestamp, now)}:\n\n${indent(content)}`;
}

function formatTime(timestamp: string, now: number): string {
  const time = new Date(timestamp);
  const age = formatEntryAge(timestamp, now);
  return Number.isNaN(time.getTime()) ? age : `${formatLocalMinute(time)} (${age})`;
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}

/**
 * Removes entries: all of them or, if one is not found, none. The entries they replaced are removed too; otherwise
 * those would be shared with the model again.
 */
async function removeKnowledge(
  { ids, isJson, io }: KnowledgeCall,
  knowledge: OpenKnowledge,
): Promise<number> {
  const named = new Set(ids.map((id) => findEntry(knowledge.entries, id)));
  const removed = new Set([...named].flatMap((entry) => listReplaced(entry, knowledge.entries)));
  await takeAway([...removed], knowledge);
  if (isJson) io.stdout.write(toJsonText({ removed: [...removed].map(({ id }) => id) }));
  else for (const entry of removed) io.stdout.write(`${describeRemoval(entry, named.has(entry))}\n`);
  return EXIT_SUCCESS;
}

/** Appends the lines that remove these entries. */
export async function takeAway(entries: readonly KnowledgeEntry[], knowledge: OpenKnowledge): Promise<void> {
  const { library, path } = knowledge;
  await library.removeKnowledge(
    path,
    entries.map(({ id }) => id),
    (await toLocation(knowledge)).guard,
  );
}

/** Where entries are written, and the check whether they may be. */
export async function toLocation({ path, root, environment }: OpenKnowledge) {
  const { guardKnowledgeAppend } = await loadKnowledgeTrust();
  const guard = (firstLine: string, append: () => void) =>
    guardKnowledgeAppend({ root, environment }, firstLine, append);
  return { path, root, guard };
}

function describeRemoval({ id, content }: KnowledgeEntry, isNamed: boolean): string {
  const why = isNamed ? "" : ", which it had replaced";
  return `Removed ${toSingleLine(id, 40)}${why}: ${toSingleLine(content, 60)}`;
}

// An entry with the usual confidence of 0.8 gets there after four half-lives, which is four months.
const FADED_BELOW = 0.05;

/** Removes replaced and faded entries; with `--dry-run` it only lists them. */
async function pruneKnowledge(
  { isJson, isDryRun, io }: KnowledgeCall,
  knowledge: OpenKnowledge,
): Promise<number> {
  const { library, entries } = knowledge;
  const replacedIds = library.findSuperseded(entries);
  const replaced = entries.filter(({ id }) => replacedIds.has(id));
  const faded = library
    .rankWithScores(entries, Date.now())
    .flatMap(({ entry, score }) => (score < FADED_BELOW ? [entry] : []));
  if (!isDryRun) await takeAway([...replaced, ...faded], knowledge);
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

type Action = (call: KnowledgeCall, knowledge: OpenKnowledge) => Promise<number> | number;

interface ActionSpec {
  run: Action;
  takes: "none" | "one" | "some" | "text";
}

const ACTIONS: Readonly<Record<SubcommandWord<"knowledge">, ActionSpec>> = {
  list: { run: listKnowledge, takes: "none" },
  show: { run: showKnowledge, takes: "one" },
  rm: { run: removeKnowledge, takes: "some" },
  prune: { run: pruneKnowledge, takes: "none" },
  review: {
    run: async (call, knowledge) => (await import("./review-knowledge.ts")).review(call, knowledge),
    takes: "none",
  },
  keep: { run: keepKnowledge, takes: "some" },
  edit: { run: editKnowledge, takes: "text" },
};

/** Confirms entries; those named together do not contradict each other. */
async function keepKnowledge({ ids, isJson, io }: KnowledgeCall, knowledge: OpenKnowledge): Promise<number> {
  const kept = ids.map((id) => findEntry(knowledge.entries, id).id);
  await knowledge.library.keepKnowledge(kept, await toLocation(knowledge));
  if (isJson) io.stdout.write(toJsonText({ kept }));
  else io.stdout.write(`Kept: ${kept.map((id) => toSingleLine(id, 40)).join(", ")}\n`);
  return EXIT_SUCCESS;
}

/** Replaces the text of an entry. */
async function editKnowledge(
  { ids: [reference = "", ...words], isJson, io }: KnowledgeCall,
  knowledge: OpenKnowledge,
): Promise<number> {
  const { id } = findEntry(knowledge.entries, reference);
  const edited = await knowledge.library.editKnowledge(id, words.join(" "), await toLocation(knowledge));
  if (!edited) throw new UsageError(`knowledge ${id} was already replaced by a later entry`);
  if (isJson) io.stdout.write(toJsonText(edited));
  else io.stdout.write(`Saved as ${edited.id}, which replaces ${toSingleLine(id, 40)}.\n`);
  return EXIT_SUCCESS;
}

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown action or id, or if the file cannot be read or written.
 */
export async function runKnowledge(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("knowledge", rest);
  const [action = "list", ...ids] = words;
  const { run } = chooseAction(action, ids, switches);
  const isJson = switches.has("json");
  const knowledge = await openKnowledgeStore(resolveDirectory(directory, io.cwd), io);
  if (knowledge.unused !== undefined && knowledge.entries.length > 0)
    writeLine(io.stderr, `note: ${knowledge.unused}`);
  return orUsageError(async () => run({ ids, isJson, isDryRun: switches.has("dry-run"), io }, knowledge));
}

function chooseAction(action: string, ids: readonly string[], switches: ReadonlySet<string>): ActionSpec {
  if (!isSubcommandWord("knowledge", action)) throw unknownAction("knowledge", action);
  const spec = ACTIONS[action];
  const [first, second] = ids;
  if (spec.takes === "none" && first !== undefined)
    throw new UsageError(`knowledge ${action} takes no id: ${first}`);
  if (spec.takes !== "none" && first === undefined)
    throw new UsageError(`knowledge ${action} needs an ID (see diligent knowledge list)`);
  if (spec.takes === "text" && second === undefined)
    throw new UsageError(`knowledge ${action} needs the new text: diligent knowledge edit ID "TEXT"`);
  if (spec.takes === "one" && second !== undefined)
    throw new UsageError(`knowledge ${action} takes one ID, not also ${second}`);
  if (switches.has("dry-run") && action !== "prune") throw new UsageError("knowledge: --dry-run needs prune");
  return spec;
}

/**
 * The knowledge of the project of `cwd`.
 * @throws UsageError if it cannot be read.
 */
export async function openKnowledgeStore(
  cwd: string,
  { environment }: Pick<CliIo, "environment">,
): Promise<OpenKnowledge> {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  const { knowledge: path } = resolvePaths(root);
  const library = await loadKnowledge();
  const redactor = openSavedRedactor(root, environment);
  const entries = redactor.redact(await orUsageError(() => library.readKnowledge(path)));
  const { readKnowledgeTrust } = await loadKnowledgeTrust();
  const trust = await readKnowledgeTrust({ root, environment });
  return { library, path, root, environment, entries, ...("message" in trust && { unused: trust.message }) };
}

/** Validated arguments of `diligent knowledge`. */
export interface KnowledgeCall {
  ids: readonly string[];
  isJson: boolean;
  isDryRun: boolean;
  io: CliIo;
}

/** A project's knowledge, with its reader and writer. */
export interface OpenKnowledge {
  library: Awaited<ReturnType<typeof loadKnowledge>>;
  /** The directory of the file. */
  path: string;
  /** The project root. */
  root: string;
  environment: CliIo["environment"];
  /** Why it is not shared with the model, in one line; undefined if it is. */
  unused?: string | undefined;
  /** In file order, including superseded ones; without secrets that the file may contain. */
  entries: readonly KnowledgeEntry[];
}

const MAX_CANDIDATES = 5;

/**
 * The entry with this id or unique id prefix.
 * @throws UsageError with the candidates if there is none or more than one.
 */
function findEntry(entries: readonly KnowledgeEntry[], reference: string): KnowledgeEntry {
  const matches = reference === "" ? [] : entries.filter(({ id }) => id.startsWith(reference));
  const exact = matches.find(({ id }) => id === reference);
  const [first] = matches;
  if (exact) return exact;
  if (first && matches.length === 1) return first;
  if (first)
    throw new UsageError(`${matches.length} ids begin with ${reference}: ${listCandidates(matches)}`);
  if (entries.length === 0) throw new UsageError(`no knowledge ${reference}; there is none yet`);
  const near = nearestNames(
    reference,
    entries.map(({ id }) => id),
    MAX_CANDIDATES,
  );
  const candidates = near.length === 0 ? entries.toReversed() : entries.filter(({ id }) => near.includes(id));
  const question = near.length === 0 ? "the newest are" : "did you mean";
  throw new UsageError(`no knowledge ${reference}; ${question} ${listCandidates(candidates)}`);
}

function listCandidates(entries: readonly KnowledgeEntry[]): string {
  const shown = entries.slice(0, MAX_CANDIDATES).map((entry) => describeShortly(entry));
  const more = entries.length > shown.length ? `, and ${entries.length - shown.length} more` : "";
  return shown.join(", ") + more;
}

/** `a1b2c3d4 (what it says…)`, for a message. */
function describeShortly({ id, content }: KnowledgeEntry): string {
  return `${toSingleLine(id, 40)} (${toSingleLine(content, 40)})`;
}

/** The entry and those it replaced, newest first; cycles are cut. */
export function listReplaced(entry: KnowledgeEntry, entries: readonly KnowledgeEntry[]): KnowledgeEntry[] {
  const byId = new Map(entries.map((each) => [each.id, each]));
  const chain = new Set<KnowledgeEntry>();
  let current: KnowledgeEntry | undefined = entry;
  while (current && !chain.has(current)) {
    chain.add(current);
    current = current.supersedes === undefined ? undefined : byId.get(current.supersedes);
  }
  return [...chain];
}
