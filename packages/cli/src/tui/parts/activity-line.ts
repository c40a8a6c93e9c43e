import { formatTokens } from "../../progress-lines.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { fitLine } from "../screen/screen-text.ts";
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
}

/** What is happening, for how long, and how to stop it; undefined while nothing is. */
export function activityLine(activity: Activity, { width, theme, now }: Look): string | undefined {
  if (activity.type === "idle") return undefined;
  const frame = FRAMES[Math.floor(now / SPINNER_MS) % FRAMES.length] ?? FRAMES[0];
  const facts = `(${seconds(now - activity.since)} s · Esc to stop)`;
  return fitLine(`${theme.accent(frame)} ${describe(activity, now)} ${theme.dim(facts)}`, width);
}

function describe(activity: Exclude<Activity, { type: "idle" }>, now: number): string {
  switch (activity.type) {
    case "waiting":
      return "Waiting for the model…";
    case "thinking":
      return "Thinking…";
    case "answering":
      return "Answering…";
    case "tool":
      return `Running ${toSingleLine(activity.toolName, 40)}…`;
    case "compacting":
      return `⟳ Compacting context (${formatTokens(activity.tokens)} tokens)…`;
    case "retry":
      return `Attempt ${activity.attempt} in ${seconds(activity.until - now)} s…`;
  }
}

function seconds(durationMs: number): number {
  return Math.max(0, Math.round(durationMs / 1_000));
}
