import type { AgentEvent } from "../agent/types.ts";
import type { SessionTreeNode } from "./build-session-tree.ts";
import type { ContextGlance } from "./context/context-glance.ts";
import type { SessionFile } from "./read-session-file.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

/** How a branch is left for another one. */
export interface LeaveOptions {
  /** Aborting it leaves everything as it was. */
  signal?: AbortSignal | undefined;
  /** Told of what asking for the summary costs, and of what goes wrong with it. */
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** Everything that was ever said in a session, the branches that were left included, and what may be noted about it. */
export interface SessionBranches {
  readonly header: SessionHeader;
  /** In the order of the file. */
  readonly entries: readonly SessionEntry[];
  /** The conversation's own, from its beginning on. */
  readonly path: readonly SessionEntry[];
  /** What the conversation takes of the model's window, as far as that can be told at once. */
  readonly contextGlance: ContextGlance;
  /** The entries as they follow each other; several roots where the conversation was begun anew. */
  readonly tree: SessionTreeNode[];
  /** Marks of entries, by their ids. */
  readonly labels: ReadonlyMap<string, string>;
  /** As it was given last; undefined: lists show the first prompt. */
  readonly name: string | undefined;
  /**
   * The session as it would be read now, for going on in it elsewhere; one that is not saved as if it were in
   * `sessionsDir`.
   * @throws Error when a part of it could not be saved, and is nowhere but here.
   */
  toFile(sessionsDir: string): SessionFile;
  /** Marks an entry; a blank label takes the mark away. @throws Error when there is no such entry. */
  label(entryId: string, label: string): void;
  /** What is out of sight once the conversation goes on behind an entry (null: from the beginning). */
  findLeft(entryId: string | null): SessionEntry[];
  /**
   * Goes on behind an earlier entry, as `SessionManager.branch` does, and tells the conversation what happened on the
   * branch that is left.
   * @returns false when it was stopped.
   * @throws Error when there is no such entry, a run or a compaction is going on, or the conversation went on meanwhile.
   */
  leave(entryId: string | null, options?: LeaveOptions): Promise<boolean>;
}
