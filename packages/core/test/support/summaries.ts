import type { Script } from "../../src/provider/scripted/script.ts";
import type { StreamContext, StreamFunction, StreamOptions } from "../../src/provider/types.ts";
import { messageText, type UserMessage } from "../../src/types.ts";
import { TIMESTAMP } from "./messages.ts";
import { scripted } from "./scripted.ts";

export const GOOD_SUMMARY = summaryOf("find the bug in src/a.ts and mend it without a new dependency");

/** The headings of a summary, in order. */
export const SUMMARY_HEADINGS = [
  "## Goal",
  "## Constraints & Preferences",
  "## Progress",
  "### Done",
  "### In Progress",
  "### Blocked",
  "## Key Decisions",
  "## Conversation Dynamics",
  "## Next Steps",
  "## Critical Context",
];

/** A summary that has the form of one. */
export function summaryOf(goal: string): string {
  return [
    `## Goal\n${goal}`,
    "## Constraints & Preferences\n- (none)",
    "## Progress\n### Done\n- [x] read src/a.ts\n### In Progress\n- [ ] the test\n### Blocked\n- (none)",
    "## Key Decisions\n- **Keep the parser**: it is tested",
    "## Next Steps\n1. run the tests",
    "## Critical Context\n- `parse` throws at line 12",
  ].join("\n\n");
}

export interface RecordedRequest {
  systemPrompt: string;
  /** What the one user message says. */
  prompt: string;
  context: StreamContext;
  options: StreamOptions;
}

/** The scripted provider, with the requests it got. */
export function recordSummaries(...turns: Script["turns"]) {
  const requests: RecordedRequest[] = [];
  const play = scripted(turns);
  const streamFunction: StreamFunction = (model, context, options) => {
    const [message] = context.messages;
    const prompt = message?.role === "user" ? messageText(message) : "";
    requests.push({ systemPrompt: context.systemPrompt, prompt, context, options });
    return play(model, context, options);
  };
  return { streamFunction, requests };
}

/** What stands between two tags of a prompt. */
export function inTag(tag: string, prompt: string | undefined): string | undefined {
  return prompt?.split(`<${tag}>\n`)[1]?.split(`\n</${tag}>`)[0];
}

export function said(content: UserMessage["content"]): UserMessage {
  return { role: "user", content, timestamp: TIMESTAMP };
}
