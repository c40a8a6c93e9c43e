import type { AgentEvent } from "../agent/types.ts";

type Notice = Extract<AgentEvent, { type: "notice" }>;

export const SHARED_SESSION: Notice = {
  type: "notice",
  level: "info",
  code: "shared_session",
  message:
    "Another process is writing to this session too. Both conversations are kept: they are branches of the same session.",
};

export const COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "info",
  code: "compacting_elsewhere",
  message: "Another process is compacting this session; waiting…",
};

export const STILL_COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "warning",
  code: "still_compacting_elsewhere",
  message:
    "Another process is still compacting this session; going on without it. Both conversations are kept: they are branches of the same session.",
};

export const RESTORED_SESSION: Notice = {
  type: "notice",
  level: "warning",
  code: "restored_session",
  message: "This session's file was removed while the session was open; it has been written anew.",
};

export function notSaved({ message }: Error): Notice {
  return {
    type: "notice",
    level: "warning",
    code: "not_saved",
    message: `This session is not being saved: ${message}. It goes on in memory, and saving is tried again.`,
  };
}

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
