/**
 * The texts that a reader of `--output-format stream-json` has in the end who appends each delta and begins a message
 * anew when it is started anew.
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
