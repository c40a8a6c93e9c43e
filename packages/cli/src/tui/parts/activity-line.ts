import { formatTokens } from "../../progress-lines.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { describeProgress } from "../../undo/describe-progress.ts";
import { keyTexts } from "../keys/key-texts.ts";
import type { Keymap } from "../keys/keymap.ts";
import { fitLine } from "../screen/screen-text.ts";
import { formatDuration } from "../text/format-amount.ts";
import type { Theme } from "../theme.ts";
import type { Activity } from "../view.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

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
export type ShownActivity = Activity | { type: "shell"; since: number };

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
      return describeProgress(activity.move, activity.progress);
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

function describeRetry({ attempt, until }: { attempt: number; until: number }, now: number): string {
  return `Attempt ${attempt} in ${Math.max(0, Math.ceil((until - now) / 1_000))} s…`;
}

/** Milliseconds without the part of a second that has only begun, as the calls above count them. */
function wholeSeconds(durationMs: number): number {
  return Math.max(0, Math.floor(durationMs / 1_000)) * 1_000;
}
