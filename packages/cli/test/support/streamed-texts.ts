/**
 * The final texts for a reader of `--output-format stream-json` that appends each delta and restarts a
 * message when it restarts.
 */
export function streamedTexts(events: readonly Record<string, unknown>[]): string[] {
  const texts = new Map<unknown, string>();
  for (const { type, itemId, delta } of events) {
    if (type === "message_start") texts.set(itemId, "");
    if (type === "message_delta") texts.set(itemId, (texts.get(itemId) ?? "") + textOf(delta));
  }
  return [...texts.values()];
}

function textOf(delta: unknown): string {
  const isText =
    typeof delta === "object" && delta !== null && "type" in delta && delta.type === "text_delta";
  return isText && "delta" in delta ? String(delta.delta) : "";
}
