import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  readSessionFile,
  resolvePaths,
  SessionFileError,
  SessionManager,
  type StreamFunction,
} from "@diligent/core";
import { openCheckpoints } from "@diligent/core/light";
import { createProviderStream } from "@diligent/core/providers";
import fc from "fast-check";
import { noteTool, user } from "../../../../core/test/support/agent-run.ts";
import {
  branchSummary,
  compaction,
  modelChange,
  prune,
} from "../../../../core/test/support/context-entries.ts";
import { talk } from "../../../../core/test/support/damaged-session.ts";
import { assistant, text } from "../../../../core/test/support/messages.ts";
import { READ_TOOL } from "../../../../core/test/support/models.ts";
import { header, toLines } from "../../../../core/test/support/session-files.ts";
import { anyDamage, applyDamage } from "../damage.ts";
import { anyHistory, FuzzedSession, findRefusals, modelOf } from "../histories.ts";
import { STORES } from "../stores.ts";
import { createTarget } from "../target.ts";

const SESSION_ID = header().id;
const HEADER_LINE = toLines([header()]);

/** A session with every kind of entry that changes its requests. */
function createLines(length: number): string[] {
  const entries = talk(length);
  const [first, last] = [entries[0]?.id ?? "", entries.at(-1)?.id ?? ""];
  const behind = [
    prune("b0000001", last, { cleared: [first], trimmed: [last], trimHead: 5, trimTail: 5 }),
    compaction("b0000002", "b0000001", { firstKeptEntryId: last }),
    modelChange("b0000003", "b0000002", "claude-x"),
    branchSummary("b0000004", "b0000003", "it went wrong"),
  ];
  return [...entries, ...behind].map((each) => toLines([each]));
}

const lineOrder = fc.record({
  lost: fc.array(fc.nat(20), { maxLength: 3 }),
  doubled: fc.array(fc.nat(20), { maxLength: 3 }),
  swapped: fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 3 }),
});

function mixLines(
  lines: readonly string[],
  order: { lost: number[]; doubled: number[]; swapped: [number, number][] },
) {
  const kept = lines.filter((_, index) => !order.lost.includes(index));
  for (const [left, right] of order.swapped) {
    const [a, b] = [kept[left], kept[right]];
    if (a !== undefined && b !== undefined) [kept[left], kept[right]] = [b, a];
  }
  return kept.flatMap((line, index) => (order.doubled.includes(index) ? [line, line] : [line]));
}

/**
 * Whatever happened to a session's file, it opens, its content stays as it is, and the conversation
 * continues.
 */
export const SESSION_FILES = createTarget({
  name: "session-files",
  about: "a damaged session file opens, continues, and nothing in it is rewritten",
  runs: { usual: 10_000, short: 100 },
  values: fc.record({
    length: fc.integer({ min: 1, max: 14 }),
    order: lineOrder,
    damages: fc.oneof(anyDamage, fc.constant([])),
    isHeaderSpared: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.boolean()),
  }),
  async findProblem({ length, order, damages, isHeaderSpared }, makeDirectory) {
    const whole = Buffer.from(HEADER_LINE + mixLines(createLines(length), order).join(""));
    const bytes = applyDamage(whole, damages, isHeaderSpared ? HEADER_LINE.length : 0);
    const project = makeDirectory();
    const paths = resolvePaths(project);
    mkdirSync(paths.sessions, { recursive: true });
    const path = join(paths.sessions, `${SESSION_ID}.jsonl`);
    writeFileSync(path, bytes);
    if (!isHeaderSpared && isRefusedInWords(path)) return undefined;
    const session = openSession(project);
    if (!(await session.resume({ sessionId: SESSION_ID }))) return "it is not found";
    const messages = [...session.context.messages, user("next")];
    const [refusal] = findRefusals({ systemPrompt: "s", messages, tools: [READ_TOOL] });
    if (refusal !== undefined) return `the next request: ${refusal}`;
    await session.run(user("next")).result();
    session.close();
    const isKept = readFileSync(path).subarray(0, bytes.length).equals(bytes);
    if (!isKept) return "the content of the file was rewritten";
    const answers = readSessionFile(path).entries.filter((entry) =>
      JSON.stringify(entry).includes("GOES-ON"),
    );
    return answers.length === 1 ? undefined : `the file contains the answer ${answers.length} times`;
  },
});

/** Without its first line, a file may no longer be recognised as ours; messages about it name it. */
function isRefusedInWords(path: string): boolean {
  try {
    readSessionFile(path);
    return false;
  } catch (error) {
    if (error instanceof SessionFileError && error.message.includes(path)) return true;
    throw error;
  }
}

/** A service that accepts everything. */
const answerAnything: StreamFunction = () => {
  const stream = createProviderStream();
  stream.push({ type: "done", stopReason: "end_turn", message: assistant([text("GOES-ON")]) });
  return stream;
};

function openSession(project: string): SessionManager {
  return new SessionManager({
    cwd: project,
    paths: resolvePaths(project),
    agentConfig: {
      model: modelOf("anthropic", 200_000),
      systemPrompt: "Test.",
      tools: [noteTool({ name: "read" })],
      streamFunction: answerAnything,
    },
  });
}

/**
 * Whatever happens to a session, including interrupts, crashes, resumes, compactions, branches and changes of
 * the service: no service would refuse a past request or the next one.
 */
export const HISTORIES = createTarget({
  name: "histories",
  about: "no service refuses a request, whatever happened to the session",
  runs: { usual: 10_000, short: 60 },
  values: anyHistory,
  async findProblem({ first, contextWindow, steps }, makeDirectory) {
    const session = await FuzzedSession.create(makeDirectory(), { vendor: first, contextWindow });
    for (const [index, step] of steps.entries()) {
      await session.take(step);
      const [problem] = session.findProblems();
      if (problem !== undefined) return `step ${index + 1}, ${step.do}: ${problem}`;
    }
    return await session.findLoss();
  },
});

const anyText = fc.oneof(
  fc.constantFrom("", "null", "[]", "{}", "7", '"a"', "\uFEFF{}", "{\n", '{"version":2}', "[".repeat(5_000)),
  fc.json(),
);

/** Whatever a file next to the sessions contains: nothing crashes, and unusable content is reported once. */
export const STORE_FILES = createTarget({
  name: "store-files",
  about: "damaged key bindings, knowledge, trust, grants, history: no crash, reported once, not overwritten",
  runs: { usual: 20_000, short: 200 },
  values: fc.record({
    store: fc.constantFrom(...STORES.map(({ name }) => name)),
    damages: anyDamage,
    instead: fc.option(anyText, { freq: 4, nil: undefined }),
  }),
  async findProblem({ store: wanted, damages, instead }, makeDirectory) {
    const store = STORES.find(({ name }) => name === wanted);
    if (!store) throw new Error(`There is no ${wanted}.`);
    const home = makeDirectory();
    const project = join(home, "project");
    mkdirSync(project);
    const path = store.path({ home, project });
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const bytes =
      instead === undefined ? applyDamage(Buffer.from(store.content), damages) : Buffer.from(instead);
    writeFileSync(path, bytes, { mode: 0o600 });
    const problem = await store.check({ home, project }, path);
    return problem === undefined ? undefined : `${store.name}: ${problem}`;
  },
});

const BEFORE = {
  "a.txt": "as it was\n",
  "b.txt": "b, as it was, with 日本語\n".repeat(40),
  "c.txt": "gone soon",
};
const AFTER = { "a.txt": "changed\n", "b.txt": "b, changed\n".repeat(30) };

type Tree = Readonly<Record<string, string>>;

/**
 * Whatever the store of a session's checkpoints contains: undo restores the original content, or leaves the
 * file and says so.
 */
export const CHECKPOINT_FILES = createTarget({
  name: "checkpoint-files",
  about: "a damaged checkpoint store restores the original, or says that it cannot",
  runs: { usual: 2_000, short: 20 },
  values: fc.record({ file: fc.nat(), damages: anyDamage }),
  async findProblem({ file, damages }, makeDirectory) {
    const top = makeDirectory();
    const root = join(top, "project");
    const environment = { HOME: top };
    mkdirSync(root);
    writeTree(root, BEFORE);
    await change(root, environment);
    damageOne(join(top, ".local/state/diligent"), { file, damages });
    const told: string[] = [];
    const other = await openCheckpoints({ root, environment, sessionId: "two" });
    for (const isFirst of [true, false, true]) {
      await other.beforeChanges({ isFirst, notify: (_, code, text) => void told.push(`${code} ${text}`) });
      other.afterChanges();
      await other.settled();
    }
    const again = await openCheckpoints({ root, environment, sessionId: "one" });
    const failure = await again.undo().then(
      (done) => done?.failures.map(({ reason }) => reason).join(),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    for (const each of [other, again]) each.close();
    const strange = Object.entries(readTree(root)).find(([name, text]) => !isKnown(name, text));
    if (strange !== undefined) return `${strange.join(" became ")} (${failure ?? "without a word"})`;
    return new Set(told).size === told.length ? undefined : `reported twice: ${told.join("; ")}`;
  },
});

/** A run of the agent that changes two files and deletes one. */
async function change(root: string, environment: { HOME: string }): Promise<void> {
  const checkpoints = await openCheckpoints({ root, environment, sessionId: "one" });
  await checkpoints.beforeChanges({ isFirst: true, notify: () => undefined });
  writeTree(root, AFTER);
  await Bun.file(join(root, "c.txt")).delete();
  checkpoints.afterChanges();
  await checkpoints.settled();
  checkpoints.close();
}

function damageOne(
  store: string,
  { file, damages }: { file: number; damages: Parameters<typeof applyDamage>[1] },
) {
  const files = readdirSync(store, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const path = files[file % Math.max(1, files.length)];
  if (path === undefined) throw new Error("Nothing was recorded.");
  writeFileSync(path, applyDamage(readFileSync(path), damages));
}

function isKnown(name: string, text: string): boolean {
  return [BEFORE, AFTER].some((tree: Tree) => tree[name] === text);
}

function readTree(root: string): Tree {
  return Object.fromEntries(readdirSync(root).map((name) => [name, readFileSync(join(root, name), "utf8")]));
}

function writeTree(root: string, tree: Tree): void {
  for (const [name, text] of Object.entries(tree)) writeFileSync(join(root, name), text);
}
