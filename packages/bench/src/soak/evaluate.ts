import type { LongSessionReport } from "../../../core/test/support/long-session.ts";
import { countChildren, countOpenFiles, readMegabytes } from "../measure/process-run.ts";
import { median } from "../measure/statistics.ts";

/** After this many turns, everything is loaded and compiled. */
export const WARM_TURNS = 100;

const MAX_PROCESS_GROWTH_MEGABYTES = 50;
const MAX_PROCESS_SLOWDOWN = 2;
const MAX_IDLE_PERCENT = 1;

/** A program that made many turns with large results. */
export interface ProcessSoak {
  /** When idle, after the first hundred turns and after the last. */
  early: ProcessSample;
  late: ProcessSample;
  /** The duration of each turn, or each prompt, in order; more than `warm` of them. */
  turnMs: readonly number[];
  /** How many of these the first hundred turns are. */
  warm: number;
}

/** Compares a program's long session with its budgets: no slower, no larger, nothing left open. */
export function evaluateProcess({ early, late, turnMs, warm }: ProcessSoak): SoakVerdict {
  const first = median(turnMs.slice(warm, 2 * warm));
  const last = median(turnMs.slice(-warm));
  const times = `${first.toFixed(1)} → ${last.toFixed(1)} ms, ${(last / first).toFixed(1)}x`;
  return {
    rows: [
      {
        what: "time of a turn, second hundred to last",
        found: times,
        budget: `≤ ${MAX_PROCESS_SLOWDOWN}x`,
        isBroken: last > MAX_PROCESS_SLOWDOWN * first,
      },
      ...compareSamples(early, late),
    ],
  };
}

/** A program that had nothing to do. */
export interface IdleSoak {
  seconds: number;
  cpuSeconds: number;
  /** How often its main thread woke up. */
  wakes: number;
  before: ProcessSample;
  after: ProcessSample;
}

/** Compares an idle program with its budgets. */
export function evaluateIdle({ seconds, cpuSeconds, wakes, before, after }: IdleSoak): SoakVerdict {
  const percent = (cpuSeconds / seconds) * 100;
  return {
    rows: [
      {
        what: `CPU over ${seconds} s`,
        found: `${percent.toFixed(2)} % of a core`,
        budget: `≤ ${MAX_IDLE_PERCENT} %`,
        isBroken: percent > MAX_IDLE_PERCENT,
      },
      // For information: the runtime of an empty program wakes up, too. `bun run bench screen-idle` compares
      // the two.
      { what: "wake-ups of the main thread", found: `${(wakes / seconds).toFixed(2)} a second` },
      ...compareSamples(before, after),
    ],
  };
}

function compareSamples(before: ProcessSample, after: ProcessSample): SoakRow[] {
  const [early, late] = [before.megabytes, after.megabytes];
  return [
    {
      what: "resident memory",
      found: `${early.toFixed(1)} → ${late.toFixed(1)} MB`,
      budget: `${MAX_PROCESS_GROWTH_MEGABYTES} MB more`,
      isBroken: late - early > MAX_PROCESS_GROWTH_MEGABYTES,
    },
    toCountRow("open files", before.files, after.files),
    toCountRow("children", before.children, after.children),
  ];
}

/** The measurements of a long session. */
export interface SoakFindings {
  report: LongSessionReport;
  /** Entries of the file that shorten old tool results. */
  prunings: number;
  /** After a quarter of the session and at its end. */
  heaps: readonly [MeasuredHeap, MeasuredHeap];
  contextWindow: number;
}

/** How much longer the last requests may take than the first ones. */
const MAX_SESSION_SLOWDOWN = 2;
// For code compiled meanwhile, caches of bounded size, and garbage that remains.
const MAX_SESSION_GROWTH_MEGABYTES = 4;

/** Compares a long session in this process with its budgets. */
export function evaluateSoak(findings: SoakFindings): SoakVerdict {
  const { report, prunings, heaps, contextWindow } = findings;
  const { asked, summaries, compactions, fallbacks, failures } = report;
  const [first, last] = quarterMeans(report.requestMs);
  const [early, late] = heaps;
  const growth = late.all - late.log - (early.all - early.log);
  const invalid = [...asked.faults, ...summaries.faults];
  const largest = Math.max(asked.mostTokens, summaries.mostTokens);
  return {
    rows: [
      toZeroRow("errors, and runs that did not reach their end", failures.length),
      {
        ...toZeroRow("requests that a service would refuse", invalid.length),
        found: `${invalid.length} of ${asked.requests + summaries.requests}`,
      },
      {
        what: "largest request",
        found: `${largest} tokens`,
        budget: `≤ ${contextWindow}`,
        isBroken: largest > contextWindow,
      },
      {
        what: "CPU time per request, first quarter to last",
        found: `${first.toFixed(2)} → ${last.toFixed(2)} ms, ${(last / first).toFixed(1)}x`,
        budget: `≤ ${MAX_SESSION_SLOWDOWN}x`,
        isBroken: last > MAX_SESSION_SLOWDOWN * first,
      },
      {
        what: "heap in addition to the log",
        found: `${(early.all - early.log).toFixed(1)} → ${(late.all - late.log).toFixed(1)} MB`,
        budget: `${MAX_SESSION_GROWTH_MEGABYTES} MB more`,
        isBroken: growth > MAX_SESSION_GROWTH_MEGABYTES,
      },
      {
        what: "compactions, fallback summaries, prunings",
        found: [compactions, fallbacks, prunings].join(", "),
      },
      { what: "refused for their length and shortened", found: String(asked.tooLong) },
    ],
    details: [
      ...failures.map((failure) => `did not reach its end: ${failure}`),
      ...invalid.map((fault) => `invalid: ${fault}`),
    ],
  };
}

function toZeroRow(what: string, count: number): SoakRow {
  return { what, found: String(count), budget: "0", isBroken: count > 0 };
}

/** Means: some kernels count CPU time in ticks, of which most requests take none. */
function quarterMeans(values: readonly number[]): [first: number, last: number] {
  const quarter = Math.ceil(values.length / 4);
  return [mean(values.slice(0, quarter)), mean(values.slice(-quarter))];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The result of one session; `title` is its kind and size. */
export interface NamedSoak {
  title: string;
  verdict: SoakVerdict;
}

const HEADINGS = ["session", "what", "found", "budget", ""];

/** A line for everything that was measured in each session, and below it the details of what is wrong. */
export function formatSoaks(soaks: readonly NamedSoak[]): string {
  const cells = soaks.flatMap(({ title, verdict }) =>
    verdict.rows.map((row, index) => toCells(index === 0 ? title : "", row)),
  );
  const rows = [HEADINGS, ...cells];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const details = soaks.flatMap(({ title, verdict }) =>
    (verdict.details ?? []).map((detail) => `${title}: ${detail}`),
  );
  return [...lines, ...(details.length > 0 ? ["", ...details] : [])].join("\n");
}

function toCells(title: string, { what, found, budget, isBroken }: SoakRow): string[] {
  return [title, what, found, budget ?? "", budget === undefined ? "" : isBroken ? "BROKEN" : "ok"];
}

/** One measurement of a long session. */
interface SoakRow {
  what: string;
  found: string;
  /** Its maximum; omitted if it is for information. */
  budget?: string;
  isBroken?: boolean;
}

/** The result of a long session. */
export interface SoakVerdict {
  rows: readonly SoakRow[];
  /** Details of what is wrong, if a row has no room for them. */
  details?: readonly string[];
}

/** True if anything exceeds its budget. */
export function isBroken({ rows }: SoakVerdict): boolean {
  return rows.some((row) => row.isBroken);
}

/** A quantity that must not grow, such as open files. */
function toCountRow(what: string, before: number, after: number): SoakRow {
  return { what, found: `${before} → ${after}`, budget: "no more", isBroken: after > before };
}

/** The resources of a process while it is idle. */
export interface ProcessSample {
  /** Resident, in units of 1,048,576 bytes. */
  megabytes: number;
  /** Files, pipes and sockets. */
  files: number;
  children: number;
}

/** Reads it from `/proc`, so on Linux only. */
export function sampleProcess(pid: number): ProcessSample {
  return { megabytes: readMegabytes(pid).now, files: countOpenFiles(pid), children: countChildren(pid) };
}

/** The heap of this process at a moment of a session, in megabytes, after garbage collection. */
export interface MeasuredHeap {
  turn: number;
  all: number;
  /** The share of the session's entries: as much as they take when they are read from its file. */
  log: number;
}
