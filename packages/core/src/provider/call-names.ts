/** Names and ids of tool calls as APIs take them: letters, digits, `_` and `-`. */
const OUT_OF_PATTERN = /[^a-zA-Z0-9_-]/g;

/**
 * Makes ids that a provider accepts from those of any other. What is changed stays unique, and the same id
 * always becomes the same one.
 *
 * @param own ids that came from the provider itself, which takes them as they are.
 */
export function createWireIds(
  maxChars = Number.POSITIVE_INFINITY,
  own: ReadonlySet<string> = new Set(),
): (toolCallId: string) => string {
  const wireIds = new Map<string, string>();
  const used = new Set<string>();
  return (toolCallId) => {
    const known = wireIds.get(toolCallId);
    if (known !== undefined) return known;
    const isOwn = own.has(toolCallId);
    const base = isOwn ? toolCallId.toWellFormed() : toolCallId.replace(OUT_OF_PATTERN, "_");
    let wireId = isOwn ? base : base.slice(0, maxChars);
    for (let count = 2; used.has(wireId); count++) {
      const suffix = `_${count}`;
      wireId = base.slice(0, maxChars - suffix.length) + suffix;
    }
    used.add(wireId);
    wireIds.set(toolCallId, wireId);
    return wireId;
  };
}

/** A model can call a tool that does not exist by a name that no tool may have. */
export function toWireName(name: string, maxChars: number): string {
  return name.replace(OUT_OF_PATTERN, "_").slice(0, maxChars) || "unknown";
}
