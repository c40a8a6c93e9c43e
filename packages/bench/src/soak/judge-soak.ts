import type { LongSessionReport } from "../../../core/test/support/long-session.ts";
import type { MeasuredHeap } from "./measured-heap.ts";
import type { SoakRow, SoakVerdict } from "./soak-row.ts";

/** What a long session was like, in numbers. */
export interface SoakFindings {
  report: LongSessionReport;
  /** Entries of the file that shorten old tool results. */
  prunings: number;
  /** At a quarter of the session and at its end. */
  heaps: readonly [MeasuredHeap, MeasuredHeap];
  contextWindow: number;
}

/** How much longer the last requests may take than the first ones. */
const MAX_SLOWDOWN = 2;
// For what was compiled meanwhile, caches of a bounded size and what collecting leaves behind.
const MAX_GROWTH_MEGABYTES = 4;

/** Holds a long session in this process to its budgets. */
export function judgeSoak(findings: SoakFindings): SoakVerdict {
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
        what: "CPU time a request, first quarter to last",
        found: `${first.toFixed(2)} → ${last.toFixed(2)} ms, ${(last / first).toFixed(1)}x`,
        budget: `≤ ${MAX_SLOWDOWN}x`,
        isBroken: last > MAX_SLOWDOWN * first,
      },
      {
        what: "heap beside the log",
        found: `${(early.all - early.log).toFixed(1)} → ${(late.all - late.log).toFixed(1)} MB`,
        budget: `${MAX_GROWTH_MEGABYTES} MB more`,
        isBroken: growth > MAX_GROWTH_MEGABYTES,
      },
      {
        what: "compactions, summaries by program, prunings",
        found: [compactions, fallbacks, prunings].join(", "),
      },
      { what: "refused for their length and mended", found: String(asked.tooLong) },
    ],
    details: [
      ...failures.map((failure) => `not reached its end: ${failure}`),
      ...invalid.map((fault) => `invalid: ${fault}`),
    ],
  };
}

function toZeroRow(what: string, count: number): SoakRow {
  return { what, found: String(count), budget: "0", isBroken: count > 0 };
}

/** Means: some kernels count CPU time in ticks of which most requests take none. */
function quarterMeans(values: readonly number[]): [first: number, last: number] {
  const quarter = Math.ceil(values.length / 4);
  return [mean(values.slice(0, quarter)), mean(values.slice(-quarter))];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
