import type { ContentBlock } from "@diligent/core/run";
import { fence } from "../../fence.ts";

/** What is sent of a mentioned path, and what the user should know about it. */
export interface Attachment {
  blocks: readonly ContentBlock[];
  notes: readonly string[];
}

/** Text for the model under a heading, in a fence that the content cannot end. */
export function createTextBlock(heading: string, content: string): ContentBlock {
  return { type: "text", text: `${heading}\n${fence(content)}` };
}

/** Nothing for the model and a line for the user. `reason` follows on a colon. */
export function notAttached(shown: string, reason: string): Attachment {
  return { blocks: [], notes: [`${shown} is not attached: ${reason}`] };
}
