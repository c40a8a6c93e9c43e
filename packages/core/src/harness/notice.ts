import type { NoticeLevel } from "../agent/types.ts";

/** A notice for the user; `code` is for programs, `message` for people. */
export interface Notice {
  level: NoticeLevel;
  code: string;
  message: string;
}
