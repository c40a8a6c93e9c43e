import { type Message, messageText, type SessionEntry, toolCallsOf } from "@diligent/core/run";
import { toSingleLine } from "../../text/terminal-text.ts";
import { type CommandContext, formatNumber, note } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { createPickerDialog, type Picker } from "./picker.ts";

const MAX_TEXT_COLUMNS = 300;
const MAX_SHOWN_COLUMNS = 60;
const PINNED = "●";
const NOT_PINNED = "○";

type Pins = Awaited<ReturnType<Awaited<ReturnType<CommandContext["session"]>>["session"]["listPins"]>>;

/** The messages of the conversation, the newest selected; undefined if there are none. Choosing one pins or unpins it. */
export async function pinPicker(context: CommandContext): Promise<Picker | undefined> {
  const { session } = await context.session();
  const pins = await session.listPins();
  const items = listItems(session.branches.path, pins);
  if (items.length === 0) return undefined;
  const title = `Pin (${formatNumber(pins.tokens)} of ${formatNumber(pins.maxTokens)} tokens)`;
  return {
    dialog: createPickerDialog({ name: "pin", title, items, selected: items.length - 1 }),
    choose: (id) => togglePin(id, context),
  };
}

async function togglePin(id: string, context: CommandContext): Promise<void> {
  const { session } = await context.session();
  const { entries } = await session.listPins();
  const label = labelOf(session.branches.path, id);
  if (entries.some((entry) => entry.id === id)) {
    await session.unpin(id);
    return note(context, `Unpinned ${label}. What requests contain now changes with the next summary.`);
  }
  const { kind, tokens, total, maxTokens } = await session.pin(id);
  const size = `${formatNumber(total)} of ${formatNumber(maxTokens)} tokens`;
  note(
    context,
    kind === "pinned"
      ? `Pinned ${label}; pins take ${size}. Every summary keeps it verbatim.`
      : `Cannot pin ${label}: it has about ${formatNumber(tokens)} tokens, and pins take ${size} already. Unpin others with /pin first.`,
  );
}

function listItems(path: readonly SessionEntry[], { entries }: Pins): PickerItem[] {
  const pinned = new Set(entries.map(({ id }) => id));
  return path.flatMap((entry, index) => {
    if (entry.type !== "message") return [];
    const text = describe(entry.message, path, index);
    if (text === undefined) return [];
    return [{ id: entry.id, label: `${pinned.has(entry.id) ? PINNED : NOT_PINNED} ${text}` }];
  });
}

function labelOf(path: readonly SessionEntry[], id: string): string {
  const index = path.findIndex((entry) => entry.id === id);
  const entry = path[index];
  const text = entry?.type === "message" ? describe(entry.message, path, index) : undefined;
  return toSingleLine(text ?? id, MAX_SHOWN_COLUMNS);
}

/** Undefined for a message without text. */
function describe(message: Message, path: readonly SessionEntry[], index: number): string | undefined {
  switch (message.role) {
    case "user":
      return quote("you", messageText(message));
    case "assistant": {
      const calls = toolCallsOf(message).map(({ name, input }) => `${name} ${JSON.stringify(input)}`);
      return quote("model", [messageText(message), ...calls].filter((text) => text.trim() !== "").join(" "));
    }
    case "tool_result": {
      const input = findInput(message.toolCallId, path, index);
      const called = input === undefined ? message.toolName : `${message.toolName} ${JSON.stringify(input)}`;
      return quote(`result of ${toSingleLine(called, MAX_SHOWN_COLUMNS)}`, message.output);
    }
  }
}

function quote(source: string, text: string): string | undefined {
  return text.trim() === "" ? undefined : `${source}: ${toSingleLine(text, MAX_TEXT_COLUMNS)}`;
}

function findInput(callId: string, path: readonly SessionEntry[], end: number): unknown {
  for (let index = end - 1; index >= 0; index--) {
    const entry = path[index];
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue;
    return toolCallsOf(entry.message).find(({ id }) => id === callId)?.input;
  }
  return undefined;
}
