import {
  assertNever,
  type Message,
  messageText,
  promptText,
  type SessionBranches,
  type SessionEntry,
  type SessionTreeNode,
} from "@diligent/core/run";
import { formatTokens } from "../../progress-lines.ts";
import { toSingleLine } from "../../terminal-text.ts";
import type { PickerItem } from "../view.ts";

const MAX_TEXT_COLUMNS = 300;
const ON_BRANCH = "●";
const ELSEWHERE = "○";
const HERE = "← you are here";

/**
 * What can be gone on from, as an indented list: what users said, summaries, and how each branch ends. A step to the right
 * is a branch of several. The id of an item is that of its entry.
 */
export function treeItems({
  tree,
  path,
  labels,
}: Pick<SessionBranches, "tree" | "path" | "labels">): PickerItem[] {
  const onPath = new Set(path);
  const here = path.at(-1);
  const shown = listShown(tree, here);
  return shown.map(({ entry, depth }) => {
    const label = labels.get(entry.id);
    const marks = [onPath.has(entry) ? ON_BRANCH : ELSEWHERE, ...(label === undefined ? [] : [`[${label}]`])];
    return {
      id: entry.id,
      label: `${marks.join(" ")} ${textOf(entry)}`,
      depth,
      ...(entry === here && { detail: HERE }),
    };
  });
}

/** The place in the list where the conversation is now. */
export function findHere(items: readonly PickerItem[]): number {
  return Math.max(
    0,
    items.findIndex(({ detail }) => detail === HERE),
  );
}

interface ShownEntry {
  entry: SessionEntry;
  depth: number;
}

/** In the order of the conversation, branch after branch. A branch may be thousands of entries long, hence no recursion. */
function listShown(tree: readonly SessionTreeNode[], here: SessionEntry | undefined): ShownEntry[] {
  const shown: ShownEntry[] = [];
  const waiting: { node: SessionTreeNode; depth: number }[] = [];
  const add = (nodes: readonly SessionTreeNode[], depth: number) => {
    const said = nodes.filter(isConversation);
    const inner = said.length > 1 ? depth + 1 : depth;
    for (const node of said.toReversed()) waiting.push({ node, depth: inner });
    return said.length;
  };
  // Those who began anew stand beside each other.
  for (const node of tree.filter(isConversation).toReversed()) waiting.push({ node, depth: 0 });
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    const isEnd = add(node.children, depth) === 0;
    if (isShown(node.entry, isEnd || node.entry === here)) shown.push({ entry: node.entry, depth });
  }
  return shown;
}

/** False for what only says something about a session: names, labels, what a later version has added. */
function isConversation({ entry, children }: SessionTreeNode): boolean {
  const isNote = entry.type === "label" || entry.type === "session_info" || entry.type === "unknown";
  return !isNote || children.length > 0;
}

function isShown(entry: SessionEntry, isEnd: boolean): boolean {
  if (entry.type === "message") return entry.message.role === "user" || isEnd;
  return entry.type === "compaction" || entry.type === "branch_summary" || isEnd;
}

function textOf(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
      return messageLabel(entry.message);
    case "compaction":
      return `⟳ compacted: ${formatTokens(entry.tokensBefore)} → ${formatTokens(entry.tokensAfter)} tokens`;
    case "branch_summary":
      return `↩ summary of a branch that was left: ${toSingleLine(withoutHeading(entry.summary), MAX_TEXT_COLUMNS)}`;
    case "model_change":
      return `model: ${entry.modelId}`;
    case "prune":
      return "… old results shortened for the model";
    case "session_info":
    case "label":
    case "unknown":
      return `(${entry.type})`;
    default:
      return assertNever(entry);
  }
}

/** Summaries begin with a heading that is the same in all of them. */
function withoutHeading(summary: string): string {
  return summary.replace(/^\s*#[^\n]*\n/, "");
}

function messageLabel(message: Message): string {
  switch (message.role) {
    case "user":
      return toSingleLine(promptText(message), MAX_TEXT_COLUMNS) || "(no text)";
    case "assistant":
      return `… ${toSingleLine(messageText(message), MAX_TEXT_COLUMNS) || "(tool calls)"}`;
    case "tool_result":
      return `… result of ${message.toolName}`;
  }
}
