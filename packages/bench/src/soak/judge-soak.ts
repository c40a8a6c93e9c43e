import type { LongSessionReport } from "../../../core/test/support/long-session.ts";
import { median } from "../measure/statistics.ts";
import type { MeasuredHeap } from "./measured-heap.ts";

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

export interface SoakVerdict {
  /** For the user, line by line. */
  lines: string[];
  /** What is not as it has to be, in words. */
  problems: string[];
}

export function judgeSoak(findings: SoakFindings): SoakVerdict {
  const { report, prunings, heaps, contextWindow } = findings;
  const { asked, summaries, compactions, fallbacks, failures } = report;
  const [first, last] = quarterMedians(report.requestMs);
  const [early, late] = heaps;
  const growth = late.all - late.log - (early.all - early.log);
  const invalid = [...asked.faults, ...summaries.faults];
  const largest = Math.max(asked.mostTokens, summaries.mostTokens);
  return {
    lines: [
      `  requests: ${asked.requests}, the largest ${asked.mostTokens} tokens; ${asked.tooLong} refused for their length and mended; invalid: ${invalid.length}`,
      `  compactions: ${compactions} with ${summaries.requests} requests, the largest ${summaries.mostTokens} tokens; summaries made by program: ${fallbacks}; prunings: ${prunings}`,
      `  errors and runs that did not reach their end: ${failures.length}`,
      `  CPU time a request: ${first.toFixed(2)} ms in the first quarter, ${last.toFixed(2)} ms in the last, ${(last / first).toFixed(1)}x`,
      `  heap: ${describeHeap(early)}, ${describeHeap(late)}; beside the log ${growth < 0 ? "" : "+"}${growth.toFixed(1)} MB`,
    ],
    problems: [
      ...failures.map((failure) => `not reached its end: ${failure}`),
      ...invalid.map((fault) => `invalid: ${fault}`),
      ...(largest > contextWindow ? [`a request of ${largest} tokens is larger than the window`] : []),
      ...(last > MAX_SLOWDOWN * first ? [`the last requests take more than ${MAX_SLOWDOWN}x as long`] : []),
      ...(growth > MAX_GROWTH_MEGABYTES ? [`the heap grows by ${growth.toFixed(1)} MB beside the log`] : []),
    ],
  };
}

function describeHeap({ turn, all, log }: MeasuredHeap): string {
  return `${all.toFixed(1)} MB at turn ${turn}, of these ${log.toFixed(1)} MB the log`;
}

function quarterMedians(values: readonly number[]): [first: number, last: number] {
  const quarter = Math.ceil(values.length / 4);
  return [median(values.slice(0, quarter)), median(values.slice(-quarter))];
}
