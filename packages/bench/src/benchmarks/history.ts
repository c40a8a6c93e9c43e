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
const LIMIT_MS_EACH = 30;
const YEAR_MS = 30_000_000_000;
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
  about: "the index over 10,000 sessions (--sessions N): memory, queries, and a second start",
  async measure(stage) {
    const home = stage.scratch.makeDirectory("history-home");
    const project = stage.scratch.makeDirectory("history-project");
    mkdirSync(join(project, ".git"), { recursive: true });
    const count = stage.sessions(SESSIONS);
    const paths = writeVariedSessions(project, count);
    const first = await probe(home, project, count);
    for (const path of paths.slice(0, CHANGED))
      appendFileSync(path, toLine(1_000, Date.UTC(2025, 0, 1), "one more line"));
    const second = await probe(home, project, count);
    if (first.added !== count || second.added !== CHANGED)
      throw new Error(`indexed ${first.added} and ${second.added} sessions, not ${count} and ${CHANGED}`);
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

async function probe(home: string, project: string, sessions: number): Promise<ProbeResult> {
  const { stdout } = await runProcess({
    argv: [process.execPath, PROBE, home, project],
    cwd: project,
    environment: {},
    timeLimitMs: Math.max(300_000, sessions * LIMIT_MS_EACH),
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
function writeVariedSessions(project: string, count: number): string[] {
  const { sessions } = resolvePaths(project);
  mkdirSync(sessions, { recursive: true });
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const text = (words: number) =>
    Array.from({ length: words }, () => wordOf(Math.floor(50_000 ** random()))).join(" ");
  const stepMs = Math.floor(YEAR_MS / count);
  return Array.from({ length: count }, (_, index) => {
    const id = `20260101000000-${index.toString(16).padStart(6, "0")}`;
    const path = join(sessions, `${id}.jsonl`);
    const begunMs = Date.UTC(2025, 0, 1) + index * stepMs;
    const timestamp = new Date(begunMs).toISOString();
    const header = { type: "session", version: SESSION_VERSION, id, timestamp, cwd: project };
    const lines = Array.from({ length: ROUNDS }, (__, round) =>
      toLine(round, begunMs, round === 0 ? `the common question ${text(20)} rare${index}` : text(60)),
    );
    writeFileSync(path, `${JSON.stringify(header)}\n${lines.join("")}`);
    return path;
  });
}

function toLine(number: number, begunMs: number, text: string): string {
  const at = begunMs + number * 1_000;
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
