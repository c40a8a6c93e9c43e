import { statSync } from "node:fs";
import { join } from "node:path";
import { computeCost } from "../agent/cost.ts";
import type { AgentEvent } from "../agent/types.ts";
import { buildSessionTree, type SessionTreeNode } from "./build-session-tree.ts";
import type { ContextGlance } from "./context/context-glance.ts";
import type { ContextGuard } from "./context/context-guard.ts";
import { findSessionName, labelEntry, readLabels } from "./labels.ts";
import type { OpenSession } from "./open-session.ts";
import type { SessionFile } from "./read-session-file.ts";
import type { LeaveOptions, SessionBranches } from "./session-branches.ts";
import type { SessionLog } from "./session-log.ts";
import { pathTo } from "./session-tree.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

interface BranchParts {
  opened: OpenSession;
  guard: ContextGuard;
  session: {
    /** Puts on disk what there is. */
    flush(): void;
    /** @throws Error when a run or a compaction is going on. */
    assertIdle(): void;
  };
}

/** The branches of a session that is open. */
export class OpenBranches implements SessionBranches {
  private readonly log: SessionLog;

  constructor(private readonly parts: BranchParts) {
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

  get contextGlance(): ContextGlance {
    return this.parts.guard.glance();
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
    const { summarizeBranch } = await import("./branch-summary.ts");
    try {
      const { summary, failure } = await summarizeBranch(log.path(), {
        ...(await guard.openSummarizer(emit)),
        left,
        signal,
        onUsage: (usage, model) =>
          emit?.({ type: "usage", usage, cost: computeCost(usage, model), purpose: "summary" }),
      });
      if (failure !== undefined) emit?.(madeByProgram(failure));
      session.assertIdle();
      if (log.leafId !== fromId) throw new Error("The conversation went on meanwhile; it stays where it is.");
      log.moveTo(entryId);
      log.append((place) => ({ type: "branch_summary", ...place, fromId, summary }));
      session.flush();
      return true;
    } catch (error) {
      if (signal?.aborted) return false;
      throw error;
    }
  }
}

function madeByProgram(failure: string): AgentEvent {
  const message = `The summary was made by program, from the session itself: ${failure}`;
  return { type: "notice", level: "warning", code: "branch_summary_fallback", message };
}
