import { statSync } from "node:fs";
import { join } from "node:path";
import { limitRequests } from "../agent/budget.ts";
import { computeCost } from "../agent/cost.ts";
import type { AgentEvent } from "../agent/types.ts";
import type { ContextManager } from "./compaction/context-manager.ts";
import type { ContextSnapshot } from "./compaction/context-status.ts";
import { findSessionName, labelEntry, readLabels, type SessionLog } from "./log.ts";
import type { LiveSession } from "./open.ts";
import type { SessionFile } from "./read-file.ts";
import { buildSessionTree, pathTo, type SessionTreeNode } from "./tree.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

interface BranchDeps {
  opened: LiveSession;
  guard: ContextManager;
  session: {
    /** Writes everything pending to disk. */
    flush(): void;
    /** @throws Error when a run or a compaction is active. */
    assertIdle(): void;
  };
}

/** The branches of an open session. */
export class OpenBranches implements SessionBranches {
  private readonly log: SessionLog;

  constructor(private readonly parts: BranchDeps) {
    this.log = parts.opened.log;
  }

  get header(): SessionHeader {
    return this.parts.opened.header;
  }

  get entries(): readonly SessionEntry[] {
    return this.log.entries;
  }

  get path(): readonly SessionEntry[] {
    return this.log.path();
  }

  get contextSnapshot(): ContextSnapshot {
    return this.parts.guard.snapshot();
  }

  get tree(): SessionTreeNode[] {
    return buildSessionTree(this.entries);
  }

  get labels(): ReadonlyMap<string, string> {
    return readLabels(this.entries);
  }

  get name(): string | undefined {
    return findSessionName(this.entries);
  }

  toFile(sessionsDir: string): SessionFile {
    const { header, writer } = this.parts.opened;
    writer?.flush();
    if (writer && !writer.isFlushed) throw new Error("A part of this session could not be saved.");
    const path = writer?.path ?? join(sessionsDir, `${header.id}.jsonl`);
    const size = writer ? statSync(path).size : 0;
    return { path, header, entries: [...this.entries], skippedLines: 0, size };
  }

  label(entryId: string, label: string): void {
    labelEntry(this.log, entryId, label);
    this.parts.session.flush();
  }

  findLeft(entryId: string | null): SessionEntry[] {
    const shared = new Set(pathTo(this.entries, entryId));
    return this.log.path().filter((entry) => !shared.has(entry));
  }

  async leave(entryId: string | null, { signal, emit }: LeaveOptions = {}): Promise<boolean> {
    const { log } = this;
    const { guard, session } = this.parts;
    session.assertIdle();
    if (entryId !== null) log.assertHas(entryId);
    const fromId = log.leafId;
    const left = this.findLeft(entryId);
    if (fromId === null || left.length === 0) {
      log.moveTo(entryId);
      return true;
    }
    const { limitSummarizers, summarizeBranch } = await import("./compaction/summarize.ts");
    const budget = guard.createBudget();
    try {
      const { summary, failure, warnings } = await summarizeBranch(log.path(), {
        ...limitSummarizers(guard.summarizers, (stream) => limitRequests(stream, budget)),
        emit,
        left,
        fileBase: guard.fileBase,
        signal,
        onUsage: (usage, model) => {
          const cost = computeCost(usage, model);
          budget.addCost(cost);
          emit?.({ type: "usage", usage, cost, purpose: "summary" });
        },
      });
      if (failure !== undefined) emit?.(madeByProgram(failure));
      for (const warning of warnings) emit?.(warning);
      session.assertIdle();
      if (log.leafId !== fromId)
        throw new Error("The conversation continued in the meantime, so it was not moved.");
      log.moveTo(entryId);
      log.append((location) => ({ type: "branch_summary", ...location, fromId, summary }));
      session.flush();
      return true;
    } catch (error) {
      if (signal?.aborted) return false;
      throw error;
    }
  }
}

function madeByProgram(failure: string): AgentEvent {
  const message = `Used a fallback summary: ${failure}`;
  return { type: "notice", level: "warning", code: "branch_summary_fallback", message };
}

/** Options for moving the conversation to another branch. */
export interface LeaveOptions {
  /** Aborting it changes nothing. */
  signal?: AbortSignal | undefined;
  /** Receives the costs of the summary and notices about its problems. */
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** All entries of a session, including those of other branches, with labels and notes. */
export interface SessionBranches {
  readonly header: SessionHeader;
  /** In the order of the file. */
  readonly entries: readonly SessionEntry[];
  /** The entries of the current conversation, from its beginning. */
  readonly path: readonly SessionEntry[];
  /** How much of the model's window the conversation takes, as far as known without loading more. */
  readonly contextSnapshot: ContextSnapshot;
  /** The entries as a tree; several roots if the conversation was restarted from the beginning. */
  readonly tree: SessionTreeNode[];
  /** Labels of entries, by entry id. */
  readonly labels: ReadonlyMap<string, string>;
  /** The latest name; undefined: lists show the first prompt. */
  readonly name: string | undefined;
  /**
   * The session as a file that can be continued elsewhere; an unsaved session is treated as if it were in
   * `sessionsDir`.
   * @throws Error when a part of it could not be saved and exists only in memory.
   */
  toFile(sessionsDir: string): SessionFile;
  /** Labels an entry; a blank label removes its label. @throws Error when there is no such entry. */
  label(entryId: string, label: string): void;
  /** The entries that leave the conversation when it continues after the given entry (null: from the beginning). */
  findLeft(entryId: string | null): SessionEntry[];
  /**
   * Continues after an earlier entry, as `SessionManager.branch` does, and adds a summary of the branch that is
   * left.
   * @returns false when it was stopped.
   * @throws Error when there is no such entry, a run or a compaction is active, or the conversation continued in
   * the meantime.
   */
  leave(entryId: string | null, options?: LeaveOptions): Promise<boolean>;
}
