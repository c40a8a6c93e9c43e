import type { JSONRPCMessage } from "@modelcontextprotocol/client";

const KNOWN_TYPES: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

/**
 * Replaces the blocks of unknown types in a result by a text that names them. The client would otherwise refuse the
 * whole result, although the tool has run.
 */
export function replaceUnknownContent(message: JSONRPCMessage): void {
  if (!("result" in message)) return;
  const { content } = message.result;
  if (!Array.isArray(content) || content.every(isKnown)) return;
  message.result.content = content.map((block: unknown) => (isKnown(block) ? block : toText(block)));
}

function typeOf(block: unknown): unknown {
  return typeof block === "object" && block !== null && "type" in block ? block.type : undefined;
}

function isKnown(block: unknown): boolean {
  return KNOWN_TYPES.has(typeOf(block));
}

function toText(block: unknown): { type: "text"; text: string } {
  return { type: "text", text: `[content of an unknown type: ${String(typeOf(block)).slice(0, 100)}]` };
}
