import type { Component } from "@earendil-works/pi-tui/dist/tui.js";
import type { ApprovalMode } from "../arguments/command.ts";
import { formatTokens } from "../print/summary.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import { describeMoveProgress } from "../undo/describe.ts";
import { approvalLines } from "./approval/view.ts";
import { type BlockEnd, renderBlocks } from "./blocks/render-blocks.ts";
import { type Keymap, keyTexts } from "./keys/keymap.ts";
import { pickerLines } from "./pickers/picker-view.ts";
import { fitLine, visibleWidth } from "./screen/screen-text.ts";
import { formatDirectory, formatDuration, MAX_NAME_COLUMNS } from "./text.ts";
import type { Theme } from "./theme.ts";
import type { Activity, Block, Retry, Status, View } from "./view.ts";

/** What the live region is laid out by; `width` is in columns. */
export interface LiveStyle {
  width: number;
  /** Of the screen. */
  rows: number;
  theme: Theme;
  /** Milliseconds, of the clock that events are applied with. */
  now: number;
  keymap: Keymap;
  /** What the transcript above ends with. */
  above: BlockEnd;
}

/** What stands below the transcript and changes: open blocks, what is going on, the editor or a dialog, the status. */
export function liveLines(view: View, editor: readonly string[], look: LiveStyle): string[] {
  const { width, theme, now } = look;
  const blocks = renderBlocks(liveBlocks(view), { width, theme, now, cwd: view.status.cwd }, look.above);
  // Nothing runs while somebody is asked.
  const activity = view.dialog?.type === "approval" ? undefined : activityLine(activityOf(view), look);
  return [
    ...blocks.lines,
    ...(blocks.end === "none" ? [] : [""]),
    ...(activity === undefined ? [] : [activity, ""]),
    ...queuedLines(view.queued, look),
    ...dialogLines(view, editor, look),
    ...(view.hint === undefined ? [] : [theme.accent(fitLine(view.hint, width))]),
    statusLine(view.status, look),
  ];
}

/** The user's own command stands below what the model does. */
function liveBlocks({ live, shell }: View): readonly Block[] {
  return shell ? [...live, shell] : live;
}

/** What Esc would stop. */
function activityOf({ activity, shell }: View): ShownActivity {
  return shell ? { type: "shell", since: shell.call.startedAt } : activity;
}

function dialogLines({ dialog }: View, editor: readonly string[], look: LiveStyle): readonly string[] {
  switch (dialog?.type) {
    case "approval":
      return approvalLines(dialog, { ...look, editor });
    case "picker":
      return pickerLines(dialog, look);
    case undefined:
      return editor;
  }
}

interface LiveRegionDeps {
  view(): View;
  editor: Component;
  /** Where a command that waits for consent is changed. */
  commandField: Pick<Component, "render">;
  look(): Omit<LiveStyle, "width">;
}

/** The live region as the screen's child. */
export class LiveRegion implements Component {
  constructor(private readonly parts: LiveRegionDeps) {}

  render(width: number): string[] {
    const { commandField, editor, look, view } = this.parts;
    const shown = view();
    const isEditing = shown.dialog?.type === "approval" && shown.dialog.isEditing;
    const written = isEditing ? commandField : editor;
    return liveLines(shown, written.render(width), { ...look(), width });
  }

  invalidate(): void {
    this.parts.editor.invalidate();
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

// The attempt and the way to stop it stand behind.
const MAX_REASON_COLUMNS = 60;

/** How often the spinner moves, in milliseconds. */
export const SPINNER_MS = 100;

interface Look {
  width: number;
  theme: Theme;
  /** Milliseconds, of the clock that the activity began by. */
  now: number;
  keymap: Keymap;
}

/** What goes on, or a command of the user's own beside it. */
type ShownActivity = Activity | { type: "shell"; since: number };

/** What is happening, for how long, and how to stop it; undefined while nothing is. */
export function activityLine(
  activity: ShownActivity,
  { width, theme, now, keymap }: Look,
): string | undefined {
  if (activity.type === "idle") return undefined;
  const frame = FRAMES[Math.floor(now / SPINNER_MS) % FRAMES.length] ?? FRAMES[0];
  const isStopping = activity.type === "files" && activity.progress?.doing === "rollBack";
  const stop = isStopping ? "" : keyTexts(keymap, [["app.interrupt", "to stop"]]);
  const facts = [formatDuration(wholeSeconds(now - activity.since)), stop].filter(Boolean).join(" · ");
  return fitLine(`${theme.accent(frame)} ${describe(activity, now)} ${theme.dim(`(${facts})`)}`, width);
}

function describe(activity: Exclude<ShownActivity, { type: "idle" }>, now: number): string {
  switch (activity.type) {
    case "waiting":
      return "Waiting for the model…";
    case "thinking":
      return "Thinking…";
    case "answering":
      return "Answering…";
    case "tool":
      return `Running ${toSingleLine(activity.toolName, 40)}…`;
    case "shell":
      return "Running your command…";
    case "files":
      return describeMoveProgress(activity.move, activity.progress);
    case "compacting":
      return describeCompacting(activity, now);
    case "retry":
      return describeRetry(activity, now);
  }
}

function describeCompacting(
  { tokens, retry }: Extract<Activity, { type: "compacting" }>,
  now: number,
): string {
  const what = `⟳ Compacting context (${formatTokens(tokens)} tokens)…`;
  return retry ? `${what} ${describeRetry(retry, now)}` : what;
}

function describeRetry({ attempt, until, reason = "" }: Retry, now: number): string {
  const why = reason === "" ? "" : `${toSingleLine(reason, MAX_REASON_COLUMNS)} `;
  return `${why}Attempt ${attempt} in ${Math.max(0, Math.ceil((until - now) / 1_000))} s…`;
}

/** Milliseconds without the part of a second that has only begun, as the calls above count them. */
function wholeSeconds(durationMs: number): number {
  return Math.max(0, Math.floor(durationMs / 1_000)) * 1_000;
}

const MAX_SHOWN = 3;

/** The messages that wait for the model, one line each. */
function queuedLines(
  queued: View["queued"],
  { width, theme, keymap }: { width: number; theme: Theme; keymap: Keymap },
): string[] {
  if (queued.length === 0) return [];
  const lines = queued
    .slice(-MAX_SHOWN)
    .map(({ text }) => theme.dim(fitLine(`  queued: ${toSingleLine(text, width)}`, width)));
  const hidden = queued.length - lines.length;
  const above = hidden > 0 ? [theme.dim(`  … ${hidden} more queued`)] : [];
  const key = keyTexts(keymap, [["app.takeBack", "edits the last one"]]);
  return [...above, ...lines, ...(key === "" ? [] : [theme.dim(fitLine(`  ${key}`, width))])];
}

const SEPARATOR = " · ";
// Of the tokens from which on the conversation is summarised, or of the window where it never is.
const WARNING_SHARE = 0.85;

type PartStyle = (text: string, theme: Theme) => string;

/** A part of a line that may be shortened, or left out where there is no room. */
interface LinePart {
  text: string;
  /** The parts with the highest numbers go first where there is no room. */
  rank: number;
  /** What is shown in its stead before it goes. */
  short?: LinePart | undefined;
  /** As running text when left out. */
  style?: PartStyle;
}

// Said in characters and in bold: no colour for a warning can be read on every background.
const BOLD: PartStyle = (text, theme) => theme.bold(text);

// Bold beside the colour: some of these are pale on one background or the other.
const MODE_STYLES: Readonly<Record<ApprovalMode, PartStyle>> = {
  ask: (text, theme) => theme.bold(theme.success(text)),
  "accept-edits": (text, theme) => theme.bold(theme.accent(text)),
  plan: (text, theme) => theme.bold(theme.name(text)),
  auto: (text, theme) => theme.bold(theme.error(text)),
  deny: BOLD,
};

/**
 * One line about the session: model, context, cost, approval mode, place. What does not fit is left out, part by part; of
 * the place its name stays longest. Only the dots between are dim: on many terminals dim text can hardly be read.
 */
export function statusLine(status: Status, { width, theme }: { width: number; theme: Theme }): string {
  let parts = statusParts(status);
  while (parts.length > 1 && visibleWidth(join(parts)) > width) parts = withoutLast(parts);
  const shown = parts.map(({ text, style }) => style?.(text, theme) ?? text);
  return fitLine(shown.join(theme.dim(SEPARATOR)), width);
}

/** The least important part replaced by its short form, or left out. */
function withoutLast(parts: readonly LinePart[]): LinePart[] {
  const last = Math.max(...parts.map(({ rank }) => rank));
  return parts.flatMap((part) => {
    if (part.rank !== last) return [part];
    return part.short === undefined ? [] : [part.short];
  });
}

function statusParts(status: Status): LinePart[] {
  const { model, effort, sessionTokens, cost, approvalMode, isSandboxed, gitBranch, cwd } = status;
  const { contextTokens, contextWindow, isContextEstimated, compactsAt = contextWindow } = status;
  const share = contextWindow > 0 ? contextTokens / contextWindow : 0;
  const context = `${isContextEstimated ? "~" : ""}${Math.round(share * 100)}% context`;
  const isNearLimit = share > 0 && contextTokens >= compactsAt * WARNING_SHARE;
  return [
    modelPart(model),
    ...(effort === undefined ? [] : [{ rank: 6, text: `thinking ${effort}` }]),
    isNearLimit ? { rank: 1, text: `! ${context}`, style: BOLD } : { rank: 1, text: context },
    ...(sessionTokens > 0 ? [{ rank: 7, text: `${formatTokens(sessionTokens)} tokens` }] : []),
    ...(cost === null ? [] : [{ rank: 3, text: formatCost(cost) }]),
    { rank: 2, text: approvalMode, style: MODE_STYLES[approvalMode] },
    ...(isSandboxed === undefined ? [] : [{ rank: 9, text: isSandboxed ? "boxed" : "unsandboxed" }]),
    ...(gitBranch === undefined ? [] : [{ rank: 8, text: name(gitBranch) }]),
    placePart(cwd),
  ];
}

/** A model by its own name, without those of the servers before it, where there is no room. */
function modelPart(model: string): LinePart {
  const own = model.slice(model.lastIndexOf("/") + 1);
  return { rank: 4, text: name(model), short: { rank: 0, text: name(own === "" ? model : own) } };
}

function placePart(cwd: string): LinePart {
  const { text, ownName } = formatDirectory(cwd);
  return { rank: 10, text, short: ownName === undefined ? undefined : { rank: 5, text: ownName } };
}

/** US dollars with as many digits as say something. */
export function formatCost(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

function join(parts: readonly LinePart[]): string {
  return parts.map(({ text }) => text).join(SEPARATOR);
}

function name(text: string): string {
  return toSingleLine(text, MAX_NAME_COLUMNS);
}
