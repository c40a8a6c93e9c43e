import type { AgentEvent } from "../agent/types.ts";

type Notice = Extract<AgentEvent, { type: "notice" }>;

/** Shown once, when another process has added messages to the file of an open session. */
export const SHARED_SESSION: Notice = {
  type: "notice",
  level: "info",
  code: "shared_session",
  message:
    "Another process is writing to this session too. Both conversations are kept: they are branches of the same session.",
};

/** Shown once per wait, after it has taken a while. */
export const COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "info",
  code: "compacting_elsewhere",
  message: "Another process is compacting this session; waiting…",
};

/** Shown when the wait reaches its time limit. */
export const STILL_COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "warning",
  code: "still_compacting_elsewhere",
  message:
    "Another process is still compacting this session; continuing without it. Both conversations are kept: they are branches of the same session.",
};

/** Shown when the file of an open session was deleted or emptied and its entries are written again. */
export const RESTORED_SESSION: Notice = {
  type: "notice",
  level: "warning",
  code: "restored_session",
  message: "This session's file was removed while the session was open; it has been recreated.",
};

/** Shown when an entry could not be written; `message` has no final full stop. */
export function notSaved({ message }: Error): Notice {
  return {
    type: "notice",
    level: "warning",
    code: "not_saved",
    message: `This session is not being saved: ${message}. It continues in memory, and saving will be retried.`,
  };
}

/** Shown when a session is opened of which this many lines (one or more) were skipped. */
export function damagedLines(count: number): Notice {
  const lines = count === 1 ? "One line" : `${count} lines`;
  const are = count === 1 ? "is" : "are";
  return {
    type: "notice",
    level: "warning",
    code: "damaged_lines",
    message: `${lines} of this session's file could not be read completely and ${are} skipped. The file is unchanged.`,
  };
}
