import { findClaims, findUnsupported } from "./claims.ts";
import { readTestCounts } from "./test-counts.ts";
import {
  CHECK_KINDS,
  type CheckCall,
  type CheckKind,
  type CheckRecord,
  type EvidenceReport,
  hasPassed,
  isGreen,
} from "./types.ts";

/** A command that has ended. */
export interface EndedCommand {
  command: string;
  /** Null if a signal ended it. */
  exitCode: number | null;
  output: string;
  /** Milliseconds since the epoch. */
  endedAtMs: number;
}

interface Noted extends Omit<CheckRecord, "isStale" | "laterEdits"> {
  endedAtMs: number;
  turn: number;
}

// A longer session forgets its oldest checks.
const MAX_CHECKS = 200;
const MAX_EDITS = 5_000;

/** What was checked and changed in a session. */
export class EvidenceLedger {
  private checks: Noted[] = [];
  private edits: { path: string; atMs: number }[] = [];
  private turn = 0;
  private turnBeganMs = 0;
  /** When the last command ended; any may have changed files, also one with a check in it. */
  private lastCommandMs = Number.NEGATIVE_INFINITY;

  /** A new prompt, at a time in milliseconds since the epoch. */
  beginTurn(atMs: number): void {
    this.turn += 1;
    this.turnBeganMs = atMs;
  }

  noteEdit(path: string, atMs: number): void {
    this.edits.push({ path, atMs });
    if (this.edits.length > MAX_EDITS) this.edits.shift();
  }

  /** @param calls the checks in its command line. */
  noteCommand({ command, exitCode, output, endedAtMs }: EndedCommand, calls: readonly CheckCall[]): void {
    this.lastCommandMs = endedAtMs;
    const tests = calls.filter(({ kind }) => kind === "tests");
    for (const { hides, ...call } of calls) {
      const counts =
        call.kind === "tests" && tests.length === 1 ? readTestCounts(output, hides !== undefined) : undefined;
      // After a filter such as `tail`, the runner's own closing lines tell how it ended.
      const isTold = hides === "filter" && counts !== undefined && counts.passed !== 0;
      const code = hides === undefined ? exitCode : isTold ? Math.min(1, counts.failed ?? 0) : null;
      this.checks.push({ ...call, command, exitCode: code, ...counts, endedAtMs, turn: this.turn });
    }
    if (this.checks.length > MAX_CHECKS) this.checks = this.checks.slice(-MAX_CHECKS);
  }

  /**
   * @param findChanged the files that were changed after a time, whatever changed them.
   * @param available the kinds of checks that the project has.
   */
  async report(
    answer: string,
    findChanged: (sinceMs: number) => Promise<readonly string[]>,
    available: () => readonly CheckKind[],
  ): Promise<EvidenceReport> {
    const last = this.lastOfEach();
    const oldest = Math.min(...last.map(({ endedAtMs }) => endedAtMs));
    const found =
      last.length > 0 && this.lastCommandMs > oldest ? await this.findLater(last, findChanged) : new Map();
    const records = last.map((noted) => this.toRecord(noted, found.get(noted) ?? 0));
    const checks = records.filter((_, index) => last[index]?.turn === this.turn);
    const hasChanges = this.edits.some(({ atMs }) => atMs >= this.turnBeganMs);
    const ran = new Set(checks.map(({ kind }) => kind));
    return {
      checks,
      missing: hasChanges ? available().filter((kind) => !ran.has(kind)) : [],
      unsupported: findUnsupported(findClaims(answer), records),
    };
  }

  /** Of the same check, the last run. */
  private lastOfEach(): Noted[] {
    const last = new Map(
      this.checks.map((check) => [`${check.kind}\0${check.name}\0${check.part ?? ""}`, check]),
    );
    return [...last.values()];
  }

  private async findLater(
    checks: readonly Noted[],
    findChanged: (sinceMs: number) => Promise<readonly string[]>,
  ): Promise<Map<Noted, number>> {
    const later = new Map<Noted, number>();
    for (const check of checks)
      if (this.lastCommandMs > check.endedAtMs) later.set(check, (await findChanged(check.endedAtMs)).length);
    return later;
  }

  private toRecord({ endedAtMs, turn: _, ...check }: Noted, changed: number): CheckRecord {
    const edited = new Set(this.edits.filter(({ atMs }) => atMs > endedAtMs).map(({ path }) => path)).size;
    const laterEdits = Math.max(edited, changed);
    return { ...check, isStale: laterEdits > 0, ...(laterEdits > 0 && { laterEdits }) };
  }
}

/** What of the required evidence is missing, each as a clause for the model; empty if nothing is. */
export function findMissing(
  required: readonly CheckKind[],
  { checks }: Pick<EvidenceReport, "checks">,
): string[] {
  return CHECK_KINDS.filter((kind) => required.includes(kind)).flatMap((kind) => {
    const own = checks.filter((check) => check.kind === kind);
    if (own.some(isGreen)) return [];
    const check = own.at(-1);
    if (check === undefined) return [`${kind}: nothing was run`];
    return [`${kind}: ${describeProblem(check)}`];
  });
}

function describeProblem(check: CheckRecord): string {
  const { name, exitCode, failed = 0, part, isStale } = check;
  if (failed > 0) return `\`${name}\` had ${failed} failures`;
  if (exitCode === null) return `the exit code of \`${name}\` is unknown; run it alone`;
  if (!hasPassed(check)) return `\`${name}\` ended with exit code ${exitCode}`;
  if (part !== undefined) return `\`${name}\` covered only a part (${part})`;
  return isStale ? `\`${name}\` ran before the last changes` : "it is unclear";
}
