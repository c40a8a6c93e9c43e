import type { TodoItem } from "@diligent/core/run";
import type { Component } from "@earendil-works/pi-tui/dist/tui.js";
import type { ApprovalMode } from "../arguments/command.ts";
import { formatTokens } from "../print/summary.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import { describeMoveProgress } from "../undo/describe.ts";
import { approvalLines } from "./approval/view.ts";
import { type BlockEnd, renderBlocks } from "./blocks/render-blocks.ts";
import { type Keymap, keyTexts } from "./keys/keymap.ts";
import { pickerLines } from "./pickers/picker-view.ts";
import { fitLine, visibleWidth, wrapText } from "./screen/screen-text.ts";
import { formatCount, formatDirectory, formatDuration, MAX_NAME_COLUMNS } from "./text.ts";
import type { Theme } from "./theme.ts";
import type { Activity, Block, Retry, Status, View } from "./view.ts";

/** How to lay out the live region; `width` is in columns. */
export interface LiveStyle {
  width: number;
  /** The height of the screen. */
  rows: number;
  theme: Theme;
  /** Milliseconds of the clock that events are applied with. */
  now: number;
  keymap: Keymap;
  /** What the transcript above ends with. */
  above: BlockEnd;
}

/**
 * The changing part below the transcript: open blocks, the current task, the editor or a dialog, and the
 * status line.
 */
export function liveLines(view: View, editor: readonly string[], style: LiveStyle): string[] {
  const { width, theme, now } = style;
  const { cwd, renderers } = view.status;
  const blocks = renderBlocks(liveBlocks(view), { width, theme, now, cwd, renderers }, style.above);
  // Nothing moves while a question is open.
  const activity = view.dialog?.type === "approval" ? undefined : activityLine(activityOf(view), style);
  return [
    ...blocks.lines,
    ...(blocks.end === "none" ? [] : [""]),
    ...(activity === undefined ? [] : [activity, ""]),
    ...todoLines(view, style),
    ...queuedLines(view.queued, style),
    ...dialogLines(view, editor, style),
    ...hintLines(view, style),
    statusLine(view.status, style),
  ];
}

const TODO_MARKS = { pending: "○", in_progress: "▸", completed: "✓" } as const;
// Of the rows of the screen.
const MAX_TODO_SHARE = 1 / 4;

/** The checklist: nothing once all of it is done, a line beside a dialog, otherwise as much as there is room for. */
function todoLines({ todos, activity, dialog }: View, { width, rows, theme }: LiveStyle): string[] {
  const open = todos.findIndex(({ status }) => status !== "completed");
  const done = todos.filter(({ status }) => status === "completed").length;
  if (todos.length === 0 || (open === -1 && activity.type === "idle")) return [];
  const current = todos.find(({ status }) => status === "in_progress");
  const room = Math.max(1, Math.floor(rows * MAX_TODO_SHARE));
  if (open === -1 || dialog || room < 3) {
    const about = current ? `: ${current.activeForm ?? current.content}` : "";
    return [theme.dim(fitLine(toSingleLine(`${done} of ${todos.length} done${about}`, width), width))];
  }
  const isCut = todos.length > room;
  const shown = isCut ? room - 1 : room;
  const start = Math.max(0, Math.min(open - 1, todos.length - shown));
  const lines = todos.slice(start, start + shown).map((item) => todoLine(item, { width, theme }));
  return isCut ? [...lines, theme.dim(fitLine(`  ${done} of ${todos.length} done`, width))] : lines;
}

function todoLine(
  { content, status, activeForm }: TodoItem,
  { width, theme }: Pick<LiveStyle, "width" | "theme">,
) {
  const text = status === "in_progress" ? (activeForm ?? content) : content;
  const line = fitLine(`${TODO_MARKS[status]} ${toSingleLine(text, width)}`, width);
  if (status === "pending") return line;
  return status === "completed" ? theme.dim(line) : theme.accent(line);
}

/** A question or a list leaves one line for it. */
function hintLines({ hint, dialog }: View, { width, theme }: LiveStyle): string[] {
  if (hint === undefined) return [];
  const lines = dialog ? [fitLine(hint, width)] : wrapText(hint, width);
  return lines.map((line) => theme.accent(line));
}

/** The user's shell command is shown below the model's work. */
function liveBlocks({ live, shell }: View): readonly Block[] {
  return shell ? [...live, shell] : live;
}

/** What Esc would stop. */
function activityOf({ activity, shell }: View): ShownActivity {
  return shell ? { type: "shell", since: shell.call.startedAt } : activity;
}

function dialogLines({ dialog }: View, editor: readonly string[], style: LiveStyle): readonly string[] {
  switch (dialog?.type) {
    case "approval":
      return approvalLines(dialog, { ...style, editor });
    case "picker":
      return pickerLines(dialog, style);
    case undefined:
      return editor;
  }
}

interface LiveRegionDeps {
  view(): View;
  editor: Component;
  /** The field for editing a command that waits for approval. */
  commandField: Pick<Component, "render">;
  style(): Omit<LiveStyle, "width">;
}

/** The live region as a child of the screen. */
export class LiveRegion implements Component {
  constructor(private readonly deps: LiveRegionDeps) {}

  render(width: number): string[] {
    const { commandField, editor, style, view } = this.deps;
    const shown = view();
    const isEditing = shown.dialog?.type === "approval" && shown.dialog.isEditing;
    const written = isEditing ? commandField : editor;
    return liveLines(shown, written.render(width), { ...style(), width });
  }

  invalidate(): void {
    this.deps.editor.invalidate();
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

// The attempt and the way to stop it follow the reason, and are more important.
const MAX_REASON_COLUMNS = 60;
const MIN_REASON_COLUMNS = 12;

/** The interval between two steps of the spinner, in milliseconds. */
export const SPINNER_MS = 100;

interface ActivityContext {
  width: number;
  theme: Theme;
  /** Milliseconds of the clock that the activity was started with. */
  now: number;
  keymap: Keymap;
}

/** The current task, or a shell command of the user alongside it. */
type ShownActivity = Activity | { type: "shell"; since: number };

/** The current activity, its duration, and how to stop it; undefined while idle. */
export function activityLine(
  activity: ShownActivity,
  { width, theme, now, keymap }: ActivityContext,
): string | undefined {
  if (activity.type === "idle") return undefined;
  const frame = FRAMES[Math.floor(now / SPINNER_MS) % FRAMES.length] ?? FRAMES[0];
  const isStopping = activity.type === "files" && activity.progress?.doing === "rollBack";
  const stop = isStopping ? "" : keyTexts(keymap, [["app.interrupt", "to stop"]]);
  const leave = isCommand(activity) ? keyTexts(keymap, [["app.background", "to background"]]) : "";
  const elapsed = formatDuration(wholeSeconds(now - activity.since));
  const toLine = (...given: string[]) => {
    const facts = given.filter(Boolean).join(" · ");
    const room = width - visibleWidth(`${frame}  (${facts})`);
    return `${theme.accent(frame)} ${describe(activity, now, room)} ${theme.dim(`(${facts})`)}`;
  };
  const whole = toLine(elapsed, stop, leave);
  return visibleWidth(whole) <= width ? whole : fitLine(toLine(elapsed, stop), width);
}

/** True while a command runs that can be moved to the background. */
function isCommand(activity: ShownActivity): boolean {
  return activity.type === "shell" || (activity.type === "tool" && activity.toolName === "bash");
}

/** @param room the columns that it may take; only the reason of a retry is cut for that. */
function describe(activity: Exclude<ShownActivity, { type: "idle" }>, now: number, room: number): string {
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
      return describeCompacting(activity, now, room);
    case "retry":
      return describeRetry(activity, now, room);
  }
}

function describeCompacting(
  { tokens, retry }: Extract<Activity, { type: "compacting" }>,
  now: number,
  room: number,
): string {
  const what = `⟳ Compacting context (${formatTokens(tokens)} tokens)…`;
  return retry ? `${what} ${describeRetry(retry, now, room - visibleWidth(what) - 1)}` : what;
}

function describeRetry({ attempt, until, reason = "" }: Retry, now: number, room: number): string {
  const when = `Attempt ${attempt} in ${Math.max(0, Math.ceil((until - now) / 1_000))} s…`;
  const columns = Math.min(MAX_REASON_COLUMNS, room - visibleWidth(when) - 1);
  return reason === "" || columns < MIN_REASON_COLUMNS ? when : `${toSingleLine(reason, columns)} ${when}`;
}

/** Milliseconds, rounded down to full seconds, as in the calls above. */
function wholeSeconds(durationMs: number): number {
  return Math.max(0, Math.floor(durationMs / 1_000)) * 1_000;
}

const MAX_SHOWN = 3;

/** The prompts that wait for the model, one line each. */
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
// Relative to the token count at which the conversation is summarized, or to the window if it never is.
const WARNING_SHARE = 0.85;

type PartStyle = (text: string, theme: Theme) => string;

/** A part of a line that may be shortened, or left out if space is short. */
interface LinePart {
  text: string;
  /** Parts with the highest number are shortened first. */
  rank: number;
  /** Shown instead, before the part is left out. */
  short?: LinePart | undefined;
  /** Default: like running text. */
  style?: PartStyle | undefined;
}

// Shown by characters and bold text: no warning colour is readable on every background.
const BOLD: PartStyle = (text, theme) => theme.bold(text);

// Bold as well as coloured: some colours are pale on one of the backgrounds.
const MODE_STYLES: Readonly<Record<ApprovalMode, PartStyle>> = {
  ask: (text, theme) => theme.bold(theme.success(text)),
  "accept-edits": (text, theme) => theme.bold(theme.accent(text)),
  plan: (text, theme) => theme.bold(theme.name(text)),
  auto: (text, theme) => theme.bold(theme.error(text)),
  deny: BOLD,
};

/**
 * One line about the session: model, context, cost, approval mode, directory. Parts that do not fit are
 * shortened or left out one by one; the model, the mode and the sandbox stay longest. Only the dots between the
 * parts are dim, because dim text is hard to read on many terminals.
 */
export function statusLine(status: Status, { width, theme }: { width: number; theme: Theme }): string {
  let parts = statusParts(status);
  while (parts.length > 1 && visibleWidth(join(parts)) > width) parts = withoutLast(parts);
  const shown = parts.map(({ text, style }) => style?.(text, theme) ?? text);
  return fitLine(shown.join(theme.dim(SEPARATOR)), width);
}

/** Shortens or removes the least important part. */
function withoutLast(parts: readonly LinePart[]): LinePart[] {
  const last = Math.max(...parts.map(({ rank }) => rank));
  return parts.flatMap((part) => {
    if (part.rank !== last) return [part];
    return part.short === undefined ? [] : [part.short];
  });
}

function statusParts(status: Status): LinePart[] {
  const { model, effort, sessionTokens, cost, approvalMode, isSandboxed, jobs = 0, gitBranch, cwd } = status;
  const { contextTokens, contextWindow, isContextEstimated, compactsAt = contextWindow } = status;
  const share = contextWindow > 0 ? contextTokens / contextWindow : 0;
  const context = `${isContextEstimated ? "~" : ""}${Math.round(share * 100)}%`;
  const isNearLimit = share > 0 && contextTokens >= compactsAt * WARNING_SHARE;
  return [
    modelPart(model),
    ...(effort === undefined ? [] : [{ rank: 9, text: `thinking ${effort}` }]),
    contextPart(context, isNearLimit),
    ...(sessionTokens > 0 ? [{ rank: 10, text: `${formatTokens(sessionTokens)} tokens` }] : []),
    ...(cost === null ? [] : [{ rank: 6, text: formatCost(cost) }]),
    { rank: 1, text: approvalMode, style: MODE_STYLES[approvalMode] },
    ...(jobs === 0 ? [] : [{ rank: 2, text: formatCount(jobs, "job") }]),
    ...(isSandboxed === undefined ? [] : [sandboxPart(isSandboxed)]),
    ...(gitBranch === undefined ? [] : [{ rank: 11, text: name(gitBranch) }]),
    placePart(cwd),
  ];
}

/** A model's own name, without server prefixes, if space is short. */
function modelPart(model: string): LinePart {
  const own = model.slice(model.lastIndexOf("/") + 1);
  return { rank: 7, text: name(model), short: { rank: 0, text: name(own === "" ? model : own) } };
}

function contextPart(share: string, isNearLimit: boolean): LinePart {
  const style = isNearLimit ? BOLD : undefined;
  const text = isNearLimit ? `! ${share}` : share;
  return { rank: 5, text: `${text} context`, style, short: { rank: 3, text, style } };
}

/** Like the mode, it shows what a command may do, so only the mode and the model stay longer. */
function sandboxPart(isSandboxed: boolean): LinePart {
  if (isSandboxed) return { rank: 4, text: "sandboxed", short: { rank: 2, text: "sandbox" } };
  return { rank: 4, text: "unsandboxed", short: { rank: 2, text: "no sandbox" } };
}

function placePart(cwd: string): LinePart {
  const { text, ownName } = formatDirectory(cwd);
  return { rank: 12, text, short: ownName === undefined ? undefined : { rank: 8, text: ownName } };
}

/** US dollars with as many digits as are meaningful. */
export function formatCost(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

function join(parts: readonly LinePart[]): string {
  return parts.map(({ text }) => text).join(SEPARATOR);
}

function name(text: string): string {
  return toSingleLine(text, MAX_NAME_COLUMNS);
}
