import { decodePrintableKey, isKeyRelease } from "@earendil-works/pi-tui/dist/keys.js";
import { applyApprovalKey } from "./approval/keys.ts";
import { cleanPaste } from "./editor/text-area.ts";
import type { Effect, KeyContext, KeyOutcome, KeyPress } from "./effects.ts";
import type { ActionId } from "./keys/keymap.ts";
import { applyPickerKey } from "./pickers/picker-view.ts";
import { readPaste } from "./screen/sequence-reader.ts";
import { isWorking, type View } from "./view.ts";

// Two presses within this time count as one gesture.
const TWICE_MS = 1_000;

/** The view after a key, and its effects. Pure. */
export function applyKey(view: View, key: KeyPress, context: KeyContext): KeyOutcome {
  const before: View = { ...view, hint: undefined };
  // Handled before any dialog, which is still open afterwards.
  if (context.keymap.matches(key.name, "app.suspend"))
    return { view: { ...before, armed: undefined }, effects: [{ type: "suspend" }] };
  if (before.dialog?.type !== "picker" && context.keymap.matches(key.name, "app.redraw"))
    return { view, effects: [{ type: "redraw" }] };
  if (before.dialog?.type === "approval") return applyApprovalKey(before, before.dialog, { key, context });
  if (before.dialog?.type === "picker") return applyPickerKey(before, before.dialog, { key, context });
  const { keymap, isPromptEmpty } = context;
  const is = (action: ActionId) => keymap.matches(key.name, action);
  if (is("app.interrupt")) return interrupt(before, context);
  if (is("app.clear")) return clear(before, context);
  if (is("app.exit") && isPromptEmpty) return { view: before, effects: [{ type: "exit" }] };
  if (is("app.takeBack") && before.queued.length > 0)
    return { view: before, effects: [{ type: "takeBack", which: "last" }] };
  if (is("app.background") && isCommandRunning(before))
    return { view: before, effects: [{ type: "leaveForeground" }] };
  const action = PLAIN_ACTIONS.find(([id]) => is(id));
  const effect: Effect = action?.[1] ?? { type: "edit", data: key.data };
  return { view: { ...before, armed: undefined }, effects: [effect] };
}

/** Otherwise the key belongs to the editor. */
function isCommandRunning({ activity, shell }: View): boolean {
  return shell !== undefined || (activity.type === "tool" && activity.toolName === "bash");
}

const PLAIN_ACTIONS: readonly (readonly [ActionId, Effect])[] = [
  ["app.approvalMode", { type: "nextApprovalMode" }],
  ["app.expandResult", { type: "openPicker", name: "expand" }],
  ["app.externalEditor", { type: "externalEditor" }],
  ["app.pasteImage", { type: "pasteImage" }],
  ["app.historySearch", { type: "openPicker", name: "history" }],
  ["app.model", { type: "openPicker", name: "model" }],
  ["app.thinking", { type: "openPicker", name: "thinking" }],
];

/**
 * Stops what is running. When idle, the second press clears the prompt, or opens the tree if the prompt is
 * empty.
 */
function interrupt(view: View, context: KeyContext): KeyOutcome {
  const effects = stop(view);
  if (effects.length > 0) return { view, effects };
  if (!isArmed(view, "app.interrupt", context.now)) {
    const hint = context.isPromptEmpty
      ? undefined
      : hintToRepeat("clear the prompt", "app.interrupt", context);
    return { view: arm({ ...view, hint }, "app.interrupt", context.now), effects: [] };
  }
  const effect: Effect = context.isPromptEmpty
    ? { type: "openPicker", name: "tree" }
    : { type: "clearPrompt" };
  return { view: { ...view, armed: undefined }, effects: [effect] };
}

/** Clears the prompt and stops what is running; the second press quits. */
function clear(view: View, context: KeyContext): KeyOutcome {
  if (isArmed(view, "app.clear", context.now)) return { view, effects: [{ type: "exit" }] };
  const armed = arm({ ...view, hint: hintToRepeat("quit", "app.clear", context) }, "app.clear", context.now);
  if (!context.isPromptEmpty) return { view: armed, effects: [{ type: "clearPrompt" }] };
  return { view: armed, effects: stop(view) };
}

/**
 * Stops the user's own shell command first if it runs alongside the model. Prompts that waited for the
 * stopped task return to the editor.
 */
function stop(view: View): Effect[] {
  if (!isWorking(view)) return [];
  const { activity, shell } = view;
  if (shell && activity.type !== "idle") return [{ type: "stopShell" }];
  return [{ type: "takeBack", which: "all" }, { type: shell ? "stopShell" : "abort" }];
}

function hintToRepeat(purpose: string, action: ActionId, { keymap }: KeyContext): string {
  return `Press ${keymap.nameOf(action) ?? "it"} again to ${purpose}`;
}

function arm(view: View, action: ActionId, now: number): View {
  return { ...view, armed: { action, until: now + TWICE_MS } };
}

function isArmed({ armed }: View, action: ActionId, now: number): boolean {
  return armed?.action === action && now <= armed.until;
}

// The maximum length of a paste into a dialog's line; nobody types or searches for more there.
const MAX_CHARACTERS = 1_000;

/** The text that was pasted or typed in input that is not a key, on one line; empty if there is none. */
export function readText(data: string): string {
  if (isKeyRelease(data)) return "";
  const pasted = readPaste(data);
  const text = pasted === undefined ? (decodePrintableKey(data) ?? "") : cleanPaste(pasted);
  return text.replace(/\s+/g, " ").slice(0, MAX_CHARACTERS).toWellFormed();
}
