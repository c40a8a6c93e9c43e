import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolvePaths, SESSION_VERSION } from "@diligent/core/run";
import type { Benchmark, Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";

const SESSIONS = 10_000;
const ROUNDS = 6;
const CHANGED = 10;
const BUDGET_MEMORY_MB = 200;
const BUDGET_QUERY_MS = 200;
const BUDGET_SHARE_PERCENT = 5;
const PROBE = join(import.meta.dir, "..", "probes", "history.ts");

/** What `probes/history.ts` prints; times in milliseconds. */
interface ProbeResult {
  updateMs: number;
  added: number;
  queryMs: Record<string, number[]>;
  peakMegabytes: number;
  databaseMegabytes: number;
}

/** The index over the sessions of all projects: its memory, its answers, and what a later start indexes. */
export const history: Benchmark = {
  name: "history",
  about: "the index over 10,000 sessions: memory, queries, and a second start",
  async measure(stage) {
    const home = stage.scratch.makeDirectory("history-home");
    const project = stage.scratch.makeDirectory("history-project");
    mkdirSync(join(project, ".git"), { recursive: true });
    const paths = writeVariedSessions(project);
    const first = await probe(home, project);
    for (const path of paths.slice(0, CHANGED)) appendFileSync(path, toLine(1_000, 0, "one more line"));
    const second = await probe(home, project);
    if (first.added !== SESSIONS || second.added !== CHANGED)
      throw new Error(`indexed ${first.added} and ${second.added} sessions, not ${SESSIONS} and ${CHANGED}`);
    const amount = (
      name: string,
      unit: Figure["unit"],
      measured: readonly number[],
      budget?: number,
    ): Figure => ({
      name: `history, ${name}`,
      unit,
      rule: { kind: "amount" },
      measured,
      ...(budget !== undefined && { budget }),
    });
    const queries = Object.entries(first.queryMs).map(([name, values]) =>
      amount(`${name}, 95th percentile`, "ms", [percentile95(values)], BUDGET_QUERY_MS),
    );
    return [
      amount("first index", "s", [first.updateMs / 1000]),
      amount("memory of the process that indexes", "MB", [first.peakMegabytes], BUDGET_MEMORY_MB),
      ...queries,
      amount(
        "second start, share of the first",
        "%",
        [(second.updateMs / first.updateMs) * 100],
        BUDGET_SHARE_PERCENT,
      ),
      amount("size of the index", "MB", [first.databaseMegabytes]),
    ];
  },
};

async function probe(home: string, project: string): Promise<ProbeResult> {
  const { stdout } = await runProcess({
    argv: [process.execPath, PROBE, home, project],
    cwd: project,
    environment: {},
    timeLimitMs: 300_000,
  });
  const result: ProbeResult = JSON.parse(stdout);
  return result;
}

function percentile95(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
}

const SYLLABLES = ["ka", "lo", "mi", "ren", "tus", "var", "zen", "pol", "qui", "dra"];

/** A word that is the rarer, the higher its number is. */
function wordOf(number: number): string {
  return [...String(number)].map((digit) => SYLLABLES[Number(digit)] ?? "").join("");
}

/** Sessions whose words are as unevenly distributed as those of a language; returns their files. */
function writeVariedSessions(project: string): string[] {
  const { sessions } = resolvePaths(project);
  mkdirSync(sessions, { recursive: true });
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const text = (words: number) =>
    Array.from({ length: words }, () => wordOf(Math.floor(50_000 ** random()))).join(" ");
  return Array.from({ length: SESSIONS }, (_, index) => {
    const id = `20260101000000-${index.toString(16).padStart(6, "0")}`;
    const path = join(sessions, `${id}.jsonl`);
    const timestamp = new Date(Date.UTC(2025, 0, 1) + index * 3_000_000).toISOString();
    const header = { type: "session", version: SESSION_VERSION, id, timestamp, cwd: project };
    const lines = Array.from({ length: ROUNDS }, (__, round) =>
      toLine(round, index, round === 0 ? `the common question ${text(20)} rare${index}` : text(60)),
    );
    writeFileSync(path, `${JSON.stringify(header)}\n${lines.join("")}`);
    return path;
  });
}

function toLine(number: number, session: number, text: string): string {
  const at = Date.UTC(2025, 0, 1) + session * 3_000_000 + number * 1_000;
  const [id, parent] = [number, number - 1].map((each) => Math.max(0, each).toString(16).padStart(8, "0"));
  const message = { role: "user", content: text, timestamp: at };
  const entry = {
    type: "message",
    id,
    parentId: number === 0 ? null : parent,
    timestamp: new Date(at).toISOString(),
  };
  return `${JSON.stringify({ ...entry, message })}\n`;
}
