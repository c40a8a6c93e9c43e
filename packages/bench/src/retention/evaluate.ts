import { MISBEHAVIOURS, type Misbehaviour } from "../../../core/test/support/bad-summaries.ts";
import type { EvidenceReport } from "../../../core/test/support/evidence-session.ts";
import type { RetentionReport } from "../../../core/test/support/retention-session.ts";
import { median } from "../measure/statistics.ts";

/** What compactions have kept; correct if there are no `problems`. */
interface RetentionVerdict {
  /** For the user, line by line. */
  lines: string[];
  /** Descriptions of what is wrong. */
  problems: string[];
}

interface RetentionRuns {
  /** Sessions whose summarizer misbehaves. */
  reports: readonly RetentionReport[];
  evidence: readonly EvidenceReport[];
  /** Sessions whose summarizer keeps every fact that it reads. */
  faithful: readonly RetentionReport[];
}

/** Of the facts, this share has to survive three faithful summaries. */
const KEPT_FACTS = 0.95;

/**
 * What the request after the last compaction of each session contains, and whether any request lacked
 * something. The number of facts is only reported for bad summaries, which lose them.
 */
export function evaluateRetention({ reports, evidence, faithful }: RetentionRuns): RetentionVerdict {
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
  const watched = [...reports.map((report) => report.watched), ...evidence];
  const changed = sum(watched.map((each) => each.changed));
  const recent = sum(evidence.map(({ recentResults }) => recentResults));
  const shortenedRecent = sum(evidence.map(({ shortenedResults }) => shortenedResults));
  const plantedFacts = sum(reports.map((report) => report.facts));
  const recalled = sum(reports.map((report) => report.recalledFacts));
  const faithfulFacts = sum(faithful.map((report) => report.facts));
  const faithfullyKept = sum(faithful.map((report) => nextRequest(report).keptFacts));
  const prunings = sum(evidence.map((each) => each.prunings));
  const refused = evidence.flatMap((each) => each.invalid);
  const count = (of: keyof Pick<RetentionReport, "compactions" | "fallbacks">) =>
    sum(reports.map((report) => report[of]));
  return {
    lines: [
      `${reports.length} sessions, ${count("compactions")} compactions, ${count("fallbacks")} fallback summaries, ${requests.length} requests`,
      `constraints verbatim in the next request: ${planted - missing.length} of ${planted}; missing in any request: ${everMissing.length}`,
      `requests after a compaction with correct file lists: ${shortened.length - wrong.length} of ${shortened.length}`,
      `facts kept by faithful summaries: ${faithfullyKept} of ${faithfulFacts} (${toPercent(faithfullyKept, faithfulFacts)})`,
      `facts kept by bad summaries: ${median(facts)} of ${reports[0]?.facts} (median), at least ${Math.min(...facts)}`,
      `facts found by recall: ${recalled} of ${plantedFacts} (${toPercent(recalled, plantedFacts)})`,
      `results of the newest 40,000 tokens shown whole, over ${prunings} prunings: ${recent - shortenedRecent} of ${recent} (${toPercent(recent - shortenedRecent, recent)})`,
      `requests changed before their last message except at a pruning or compaction: ${changed} of ${sum(watched.map((each) => each.requests))}`,
      `invalid requests: ${invalid.length + refused.length}, errors: ${failures.length}`,
    ],
    problems: [
      ...unique(everMissing).map((constraint) => `missing: ${constraint}`),
      ...unique(wrong.flatMap(({ wrongLists }) => wrongLists)),
      ...(faithfullyKept < KEPT_FACTS * faithfulFacts
        ? [`lost: ${faithfulFacts - faithfullyKept} facts`]
        : []),
      ...(recalled < plantedFacts ? [`recall misses ${plantedFacts - recalled} facts`] : []),
      ...(shortenedRecent > 0 ? [`shortened: ${shortenedRecent} of the newest results`] : []),
      ...(changed > 0 ? [`changed: ${changed} requests without a reason`] : []),
      ...(evidence.length > 0 && prunings === 0 ? ["nothing was pruned, which proves nothing"] : []),
      ...unique([...invalid, ...refused]).map((problem) => `invalid: ${problem}`),
      ...unique(failures).map((failure) => `error: ${failure}`),
    ],
  };
}

/** The first request after the last compaction. @throws if there is none, because nothing was tested then. */
function nextRequest({ requests, compactions }: RetentionReport): RetentionReport["requests"][number] {
  const next = requests.find((request) => request.compactions === compactions && compactions > 0);
  if (!next) throw new Error("There is no request after the last compaction.");
  return next;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function toPercent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.floor((part * 1_000) / whole) / 10} %`;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/**
 * The misbehaviour of a summarizer at each compaction of a run. The first runs use each kind in turn; two
 * consecutive runs start with the same kind, because they use the two services. Later runs choose at random.
 */
export function chooseMisbehaviours(run: number, random: () => number): Misbehaviour[] {
  const first = Math.floor(run / 2);
  if (first < MISBEHAVIOURS.length) return [...MISBEHAVIOURS.slice(first), ...MISBEHAVIOURS.slice(0, first)];
  return MISBEHAVIOURS.map((usual) => MISBEHAVIOURS[Math.floor(random() * MISBEHAVIOURS.length)] ?? usual);
}
