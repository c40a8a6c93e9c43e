import type { AgentEvent, NoticeLevel } from "@diligent/core/run";
import type { RunSummary } from "../run-summary.ts";

/** The first things to know about a run. */
export interface SessionFacts {
  sessionId: string;
  /** The model's id. */
  model: string;
  cwd: string;
  /** This program's. */
  version: string;
}

/** Something for the user to know; `code` tells programs what `message` tells people. */
export interface Notice {
  level: NoticeLevel;
  code: string;
  message: string;
}

/** What print mode has to tell at the end; `durationMs` is wall time. */
export interface RunResult {
  sessionId: string;
  summary: RunSummary;
  durationMs: number;
}

/** One of print mode's output formats: it is told what happens, in this order, and decides what is written where. */
export interface RunOutput {
  begin(facts: SessionFacts): void;
  /** Something the user should know that is no event of the run. */
  notice(notice: Notice): void;
  event(event: AgentEvent): void;
  /** Exactly once, whatever became of the run. */
  finish(result: RunResult): void;
}
