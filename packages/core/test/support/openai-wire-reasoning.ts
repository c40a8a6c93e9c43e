import { asRecord, asString } from "../../src/provider/wire-format.ts";
import type { WireItem } from "./openai-wire-items.ts";

/**
 * What the API refuses about reasoning: what it cannot read without having stored it, reasoning without what it led to,
 * and what it led to without the reasoning. The API knows from its ids which belong together; in tests an id
 * that ends in `_of_rs_…` says which reasoning it needs.
 */
export function checkReasoning(items: readonly WireItem[]): string[] {
  const sent = new Set(items.filter(isReasoning).map(({ id }) => asString(id)));
  return items.flatMap((item, index) => {
    if (isReasoning(item)) return [...checkItself(item), ...checkFollower(item, items.slice(index + 1))];
    const needed = /_of_(rs_\w+)$/.exec(asString(item.id))?.[1];
    return needed === undefined || sent.has(needed)
      ? []
      : [
          `Item '${item.id}' of type '${item.type}' was provided without its required 'reasoning' item: '${needed}'`,
        ];
  });
}

function isReasoning({ type }: WireItem): boolean {
  return type === "reasoning";
}

function checkItself({ id, summary, content, encrypted_content, path }: WireItem): string[] {
  const parts: unknown[] = Array.isArray(summary) ? summary : [];
  const isReadable = asString(encrypted_content) !== "" || (Array.isArray(content) && content.length > 0);
  return [
    ...(Array.isArray(summary) ? [] : [`${path}: missing required field summary`]),
    ...(parts.every((part) => asRecord(part).type === "summary_text") ? [] : [`${path}.summary: invalid`]),
    ...(isReadable ? [] : [`Item with id '${id}' not found. Items are not persisted when store is false.`]),
  ];
}

/** After reasoning, and other reasoning with it, comes an item of the same answer under its own id. */
function checkFollower({ id }: WireItem, rest: readonly WireItem[]): string[] {
  const distance = rest.findIndex((item) => !isReasoning(item));
  const follower = asString(rest[distance]?.id);
  const needed = /_of_(rs_\w+)$/.exec(follower)?.[1];
  const run = [id, ...rest.slice(0, Math.max(0, distance)).map((item) => item.id)];
  const isOwn = follower !== "" && (needed === undefined || run.includes(needed));
  return isOwn ? [] : [`Item '${id}' of type 'reasoning' was provided without its required following item`];
}
