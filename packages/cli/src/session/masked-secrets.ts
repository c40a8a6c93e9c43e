import { type SessionEntry, toolCallsOf } from "@diligent/core/run";
import { toSingleLine } from "../text/terminal-text.ts";

const PLACEHOLDER = /\[(?:secret [\w-]+ [0-9a-f]{8}|key of [^\]\n]{1,100}|value of \w{1,100})\]/g;
const MAX_PLACES = 5;
const MAX_PLACE_COLUMNS = 60;

interface MaskedView {
  mask?: boolean | undefined;
  /** False for a placeholder that is only text, as in a file that somebody else wrote. */
  isIssued(placeholder: string): boolean;
}

/** Lines that say which secrets a conversation has as placeholders, and where. */
export function describeMasked(
  path: readonly SessionEntry[],
  { mask = true, isIssued }: MaskedView,
): string[] {
  const places = findPlaces(path, isIssued);
  const setting = mask ? [] : ["secrets.mask is false: only configured keys are masked.", ""];
  if (places.size === 0) return [...setting, "Nothing was masked in this conversation."];
  const lines = [...places].flatMap(([placeholder, all]) => {
    const more = all.length > MAX_PLACES ? [`  and ${all.length - MAX_PLACES} more places`] : [];
    return [placeholder, ...all.slice(0, MAX_PLACES).map((place) => `  ${place}`), ...more];
  });
  return [
    ...setting,
    "Masked in this conversation",
    "",
    ...lines,
    "",
    "No secret? Add its value to secrets.allow in your own diligent.jsonc.",
  ];
}

function findPlaces(path: readonly SessionEntry[], isIssued: MaskedView["isIssued"]): Map<string, string[]> {
  const calls = new Map<string, string>();
  const places = new Map<string, string[]>();
  for (const entry of path) {
    if (entry.type === "message" && entry.message.role === "assistant")
      for (const { id, name, input } of toolCallsOf(entry.message)) calls.set(id, describeCall(name, input));
    const found = new Set(JSON.stringify(entry).match(PLACEHOLDER));
    for (const placeholder of found) {
      if (!isIssued(placeholder)) continue;
      const place = describePlace(entry, calls);
      const known = places.get(placeholder) ?? [];
      if (!known.includes(place)) places.set(placeholder, [...known, place]);
    }
  }
  return places;
}

function describePlace(entry: SessionEntry, calls: ReadonlyMap<string, string>): string {
  if (entry.type !== "message") return entry.type.replaceAll("_", " ");
  const { message } = entry;
  switch (message.role) {
    case "user":
      return "your prompt";
    case "assistant":
      return "the model's answer";
    case "tool_result":
      return calls.get(message.toolCallId) ?? message.toolName;
  }
}

function describeCall(name: string, input: Record<string, unknown>): string {
  const shown = input.command ?? input.file_path ?? input.path ?? input.url ?? input.pattern;
  return toSingleLine(typeof shown === "string" ? `${name}: ${shown}` : name, MAX_PLACE_COLUMNS);
}
