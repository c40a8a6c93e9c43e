import { applyApprovalKey } from "./approval/apply-approval-key.ts";
import type { Effect } from "./effects.ts";
import type { ActionId } from "./keys/actions.ts";
import type { Keymap } from "./keys/keymap.ts";
import { applyPickerKey } from "./pickers/apply-picker-key.ts";
import type { View } from "./view.ts";

/** A key as the terminal library names it, and the bytes it came as. */
export interface KeyPress {
  name: string;
  data: string;
}

/** What a key's meaning depends on besides the view. */
export interface KeyContext {
  keymap: Keymap;
  isPromptEmpty: boolean;
  /** Milliseconds. */
  now: number;
  /** Of the screen, for lists and long questions. */
  rows: number;
  columns: number;
}

export interface KeyOutcome {
  view: View;
  effects: readonly Effect[];
}

// Two presses within this time are one gesture.
const TWICE_MS = 1_000;

/** The view after a key, and what it asks for. Pure. */
export function applyKey(view: View, key: KeyPress, context: KeyContext): KeyOutcome {
  const before: View = { ...view, hint: undefined };
  if (before.dialog?.type === "approval") return applyApprovalKey(before, before.dialog, { key, context });
  if (before.dialog?.type === "picker") return applyPickerKey(before, before.dialog, { key, context });
  const { keymap, isPromptEmpty } = context;
  const is = (action: ActionId) => keymap.matches(key.name, action);
  if (is("app.interrupt")) return interrupt(before, context);
  if (is("app.clear")) return clear(before, context);
  if (is("app.exit") && isPromptEmpty) return { view: before, effects: [{ type: "exit" }] };
  if (is("app.takeBack") && before.queued.length > 0)
    return { view: before, effects: [{ type: "takeBack", which: "last" }] };
  const action = PLAIN_ACTIONS.find(([id]) => is(id));
  const effect: Effect = action?.[1] ?? { type: "edit", data: key.data };
  return { view: { ...before, armed: undefined }, effects: [effect] };
}

const PLAIN_ACTIONS: readonly (readonly [ActionId, Effect])[] = [
  ["app.suspend", { type: "suspend" }],
  ["app.approvalMode", { type: "nextApprovalMode" }],
  ["app.expandResult", { type: "showResult" }],
  ["app.externalEditor", { type: "externalEditor" }],
  ["app.historySearch", { type: "openPicker", name: "history" }],
  ["app.model", { type: "openPicker", name: "model" }],
  ["app.thinking", { type: "openPicker", name: "thinking" }],
];

/** Stops what is running; on a quiet screen the second press clears the prompt, or opens the tree when it is empty. */
function interrupt(view: View, context: KeyContext): KeyOutcome {
  if (view.activity.type !== "idle") {
    return { view, effects: [{ type: "abort" }, { type: "takeBack", which: "all" }] };
  }
  if (!isArmed(view, "app.interrupt", context.now)) {
    const hint = context.isPromptEmpty ? undefined : "Press Esc again to clear the prompt";
    return { view: arm({ ...view, hint }, "app.interrupt", context.now), effects: [] };
  }
  const effect: Effect = context.isPromptEmpty
    ? { type: "openPicker", name: "tree" }
    : { type: "setPrompt", text: "" };
  return { view: { ...view, armed: undefined }, effects: [effect] };
}

/** Clears the prompt and what is running; the second press leaves. */
function clear(view: View, context: KeyContext): KeyOutcome {
  if (isArmed(view, "app.clear", context.now)) return { view, effects: [{ type: "exit" }] };
  const armed = arm({ ...view, hint: "Press Ctrl+C again to leave" }, "app.clear", context.now);
  if (!context.isPromptEmpty) return { view: armed, effects: [{ type: "setPrompt", text: "" }] };
  if (view.activity.type === "idle") return { view: armed, effects: [] };
  return { view: armed, effects: [{ type: "abort" }, { type: "takeBack", which: "all" }] };
}

function arm(view: View, action: ActionId, now: number): View {
  return { ...view, armed: { action, until: now + TWICE_MS } };
}

function isArmed({ armed }: View, action: ActionId, now: number): boolean {
  return armed?.action === action && now <= armed.until;
}
