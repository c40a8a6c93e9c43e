import type { AgentEvent } from "../agent/types.ts";

type Notice = Extract<AgentEvent, { type: "notice" }>;

/** Said once, when somebody else has added messages to the file of an open session. */
export const SHARED_SESSION: Notice = {
  type: "notice",
  level: "info",
  code: "shared_session",
  message:
    "Another process is writing to this session too. Both conversations are kept: they are branches of the same session.",
};

/** Said once in a wait, when it has gone on for a while. */
export const COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "info",
  code: "compacting_elsewhere",
  message: "Another process is compacting this session; waiting…",
};

/** Said when the wait has reached its limit and is given up. */
export const STILL_COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "warning",
  code: "still_compacting_elsewhere",
  message:
    "Another process is still compacting this session; going on without it. Both conversations are kept: they are branches of the same session.",
};

/** Said when the file of an open session was gone or empty, and its entries are written again. */
export const RESTORED_SESSION: Notice = {
  type: "notice",
  level: "warning",
  code: "restored_session",
  message: "This session's file was removed while the session was open; it has been written anew.",
};

/** Said when an entry could not be written; `message` is without a full stop. */
export function notSaved({ message }: Error): Notice {
  return {
    type: "notice",
    level: "warning",
    code: "not_saved",
    message: `This session is not being saved: ${message}. It goes on in memory, and saving is tried again.`,
  };
}

/** Said when a session is opened of which so many lines (one or more) were passed over. */
export function damagedLines(count: number): Notice {
  const lines = count === 1 ? "One line" : `${count} lines`;
  const are = count === 1 ? "is" : "are";
  return {
    type: "notice",
    level: "warning",
    code: "damaged_lines",
    message: `${lines} of this session's file could not be read whole and ${are} passed over. The file is left as it is.`,
  };
}
