import { REVIEWER } from "../agents/built-in.ts";
import type { AgentDefinition } from "../agents/definition.ts";
import type { Changes } from "./changes.ts";
import { divideDiff } from "./diff.ts";
import { findingsSchema } from "./findings.ts";
import REVIEW from "./review.md" with { type: "text" };

/** The reviewer that reports findings as data: it only reads, whatever the mode. */
export const CHANGE_REVIEWER: AgentDefinition = {
  ...REVIEWER,
  prompt: `${REVIEWER.prompt.trim()}\n\n${REVIEW.trim()}\n\nYour last message consists only of a JSON value, without a code fence or other text. It must match this JSON Schema:\n${JSON.stringify(findingsSchema())}`,
  tools: { allowed: ["read", "ls", "glob", "grep"] },
  isReadOnly: true,
};

// Code takes about three characters a token. The rest of the window is for what the reviewer reads.
const CHARS_PER_TOKEN = 3;
const WINDOW_SHARE = 0.35;
const MIN_PART_CHARS = 6_000;
/** More would be many requests that nobody expects. */
const MAX_PARTS = 12;

/** The prompts of a review, each for a session of its own, or why the changes are too many. */
export type ReviewPlan = { prompts: string[] } | { problem: string };

/** Divides the changes so that each part leaves room in the model's window. */
export function planReview(
  { title, files }: Pick<Changes, "title" | "files">,
  contextWindow: number,
): ReviewPlan {
  const maxChars = Math.max(MIN_PART_CHARS, contextWindow * WINDOW_SHARE * CHARS_PER_TOKEN);
  const parts = divideDiff(files, maxChars);
  if (parts.length > MAX_PARTS) {
    const kilobytes = Math.round(parts.reduce((sum, part) => sum + part.length, 0) / 1024);
    return {
      problem: `the diff has ${kilobytes} KB, which is more than ${MAX_PARTS} times what fits into the model's window; name a smaller range, or paths after --`,
    };
  }
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  return {
    prompts: parts.map((part, index) => {
      const which = parts.length === 1 ? "" : `, part ${index + 1} of ${parts.length}`;
      return `Review ${title} (${count}${which}).\n\n${part}`;
    }),
  };
}
