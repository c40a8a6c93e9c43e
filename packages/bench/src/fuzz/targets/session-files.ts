import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { resolvePaths } from "../../../../core/src/infrastructure/diligent-dir.ts";
import { createProviderStream } from "../../../../core/src/provider/provider-stream.ts";
import type { StreamFunction } from "../../../../core/src/provider/types.ts";
import { SessionManager } from "../../../../core/src/session/manager.ts";
import { readSessionFile, SessionFileError } from "../../../../core/src/session/read-session-file.ts";
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
import { createTarget } from "../create-target.ts";
import { anyDamage, applyDamage } from "../damage.ts";
import { findRefusals, modelOf } from "../histories/vendors.ts";

const SESSION_ID = header().id;
const HEADER_LINE = toLines([header()]);

/** A session with every kind of entry that changes what of it is sent. */
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

/** Whatever happened to a session's file, it opens, what is in it stays as it is, and the conversation goes on. */
export const SESSION_FILES = createTarget({
  name: "session-files",
  about: "a damaged session file opens, goes on, and nothing of it is rewritten",
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
    if (!isKept) return "what was in the file was rewritten";
    const answers = readSessionFile(path).entries.filter((entry) =>
      JSON.stringify(entry).includes("GOES-ON"),
    );
    return answers.length === 1 ? undefined : `the file holds the answer ${answers.length} times`;
  },
});

/** Without its first line a file may be none of ours any more; what is said about it names it. */
function isRefusedInWords(path: string): boolean {
  try {
    readSessionFile(path);
    return false;
  } catch (error) {
    if (error instanceof SessionFileError && error.message.includes(path)) return true;
    throw error;
  }
}

/** A service that takes whatever it is sent. */
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
