import type { CallBlock, ToolCallView } from "../blocks.ts";
import { addKnowledge } from "./add-knowledge.ts";
import { bash } from "./bash.ts";
import { edit } from "./edit.ts";
import { generic } from "./generic.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import { renderCall } from "./render-call.ts";
import { SafeCall } from "./safe-call.ts";
import { privateShell, toldShell } from "./shell.ts";
import type { ToolContext, ToolLook } from "./tool-look.ts";
import { write } from "./write.ts";

/** Which tool looks how; all others look alike. */
const LOOKS: ReadonlyMap<string, ToolLook> = new Map(
  Object.entries({ add_knowledge: addKnowledge, bash, edit, glob, grep, ls, read, write }),
);

/** A call as lines of at most `width` columns: what was asked, and what it prints or what came of it, folded. */
export function renderCallBlock(block: CallBlock, context: ToolContext): string[] {
  return renderCall(new SafeCall(block.call), lookOf(block), context);
}

/** The same for a tool's call. */
export function renderToolCall(call: ToolCallView, context: ToolContext): string[] {
  return renderCallBlock({ type: "tool", call }, context);
}

/** Everything about a call, uncut, as plain text that is safe for a terminal: for the pager. */
export function fullBlockText(block: CallBlock): string {
  const safe = new SafeCall(block.call);
  const text =
    lookOf(block).fullText?.(safe) ?? [safe.inputText(2), "", safe.output || safe.partial].join("\n");
  return `${safe.name}\n\n${text.trimEnd()}\n`;
}

/** The same for a tool's call. */
export function fullText(call: ToolCallView): string {
  return fullBlockText({ type: "tool", call });
}

function lookOf(block: CallBlock): ToolLook {
  if (block.type === "shell") return block.isTold ? toldShell : privateShell;
  return LOOKS.get(block.call.toolName) ?? generic;
}
