import { MISBEHAVIOURS, type Misbehaviour } from "../../../core/test/support/bad-summaries.ts";
import type { RetentionReport } from "../../../core/test/support/retention-session.ts";
import { median } from "../measure/statistics.ts";

/** What compactions have kept; it is as it has to be when there are no `problems`. */
interface RetentionVerdict {
  /** For the user, line by line. */
  lines: string[];
  /** What is not as it has to be, in words. */
  problems: string[];
}

/**
 * What was kept in the request that follows the last compaction of each session, and whether any request lacked
 * something. Facts are told only: a bad summary loses them.
 */
export function evaluateRetention(reports: readonly RetentionReport[]): RetentionVerdict {
  const requests = reports.flatMap((report) => report.requests);
  const next = reports.map(nextRequest);
  const planted = sum(reports.map(({ constraints }) => constraints));
  const missing = next.flatMap(({ missingConstraints }) => missingConstraints);
  const shortened = requests.filter(({ compactions }) => compactions > 0);
  const wrong = shortened.filter(({ wrongLists }) => wrongLists.length > 0);
  const invalid = reports.flatMap((report) => report.invalid);
  const failures = reports.flatMap((report) => report.failures);
  const facts = next.map(({ keptFacts }) => keptFacts);
  const everMissing = requests.flatMap(({ missingConstraints }) => missingConstraints);
  const count = (of: keyof Pick<RetentionReport, "compactions" | "fallbacks">) =>
    sum(reports.map((report) => report[of]));
  return {
    lines: [
      `${reports.length} sessions, ${count("compactions")} compactions, ${count("fallbacks")} summaries made by program, ${requests.length} requests`,
      `constraints word for word in the next request: ${planted - missing.length} of ${planted}; missing in any request: ${everMissing.length}`,
      `requests behind a compaction whose lists of files are right: ${shortened.length - wrong.length} of ${shortened.length}`,
      `facts kept: ${median(facts)} of ${reports[0]?.facts} (median), ${Math.min(...facts)} at least`,
      `invalid requests: ${invalid.length}, errors: ${failures.length}`,
    ],
    problems: [
      ...unique(everMissing).map((constraint) => `missing: ${constraint}`),
      ...unique(wrong.flatMap(({ wrongLists }) => wrongLists)),
      ...unique(invalid).map((problem) => `invalid: ${problem}`),
      ...unique(failures).map((failure) => `error: ${failure}`),
    ],
  };
}

/** The first request behind the last compaction. @throws when there is none: nothing was tried then. */
function nextRequest({ requests, compactions }: RetentionReport): RetentionReport["requests"][number] {
  const next = requests.find((request) => request.compactions === compactions && compactions > 0);
  if (!next) throw new Error("There is no request behind the last compaction.");
  return next;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/**
 * How a summarizer behaves at each compaction of a run: each way in turn, beginning with another one in every second
 * run, so that both services meet all of them; then at random.
 */
export function chooseMisbehaviours(run: number, random: () => number): Misbehaviour[] {
  const first = Math.floor(run / 2);
  if (first < MISBEHAVIOURS.length) return [...MISBEHAVIOURS.slice(first), ...MISBEHAVIOURS.slice(0, first)];
  return MISBEHAVIOURS.map((usual) => MISBEHAVIOURS[Math.floor(random() * MISBEHAVIOURS.length)] ?? usual);
}
