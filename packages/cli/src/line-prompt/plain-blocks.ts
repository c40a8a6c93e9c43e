import { assertNever } from "@diligent/core/run";
import type { Block, ToolCallView } from "../tui/blocks.ts";
import { formatCount } from "../tui/text/format-amount.ts";

/** A block of the transcript as plain text: nothing drawn, nothing decorated; empty for one without content. */
export function toPlainText(block: Block): string {
  switch (block.type) {
    case "prompt":
      return `> ${block.text.trim()}`;
    case "answer":
      return block.markdown.trim();
    case "thinking":
      return "";
    case "tool":
    case "shell":
      return describeCall(block.call);
    case "notice":
      return block.level === "info" ? block.text : `${block.level}: ${block.text}`;
    case "output":
      return block.text.trimEnd();
    case "change":
      return `${block.path}: ${block.added} added, ${block.removed} removed\n${block.diff.trimEnd()}`;
    case "resumed":
      return `${formatCount(block.hiddenMessages, "message")} above; /tree or diligent sessions show`;
    default:
      return assertNever(block);
  }
}

/** What was asked for; its result is in the session and was read when it came. */
function describeCall({ toolName, input, result }: ToolCallView): string {
  const words = typeof input === "string" ? input : JSON.stringify(input);
  return `${toolName}: ${words}${result?.isError ? " (failed)" : ""}`;
}
