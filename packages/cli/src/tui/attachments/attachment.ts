import type { ContentBlock } from "@diligent/core/run";

/** What is sent of a mentioned path, and what the user should know about it. */
export interface Attachment {
  blocks: readonly ContentBlock[];
  notes: readonly string[];
}

export function createTextBlock(heading: string, content: string): ContentBlock {
  // Longer than every fence in it, so that nothing in the file can end it.
  const runs = Array.from(content.matchAll(/`+/g), ([run]) => run.length);
  const fence = "`".repeat(Math.max(2, ...runs) + 1);
  const lineEnd = content === "" || content.endsWith("\n") ? "" : "\n";
  return { type: "text", text: `${heading}\n${fence}\n${content}${lineEnd}${fence}` };
}

export function notAttached(shown: string, reason: string): Attachment {
  return { blocks: [], notes: [`${shown} is not attached: ${reason}`] };
}
