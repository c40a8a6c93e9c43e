import { formatTokens } from "../../progress-lines.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { fitLine, visibleWidth } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";
import type { Status } from "../view.ts";

const SEPARATOR = " · ";
// From here on a compaction is near.
const WARNING_SHARE = 0.75;
const MAX_NAME_COLUMNS = 40;

interface Part {
  text: string;
  /** The parts with the highest numbers go first where there is no room. */
  rank: number;
}

/** One line about the session: model, context, cost, approval mode, place. What does not fit is left out, part by part. */
export function statusLine(status: Status, { width, theme }: { width: number; theme: Theme }): string {
  let parts = statusParts(status, theme);
  while (parts.length > 1 && visibleWidth(join(parts)) > width) {
    const last = Math.max(...parts.map(({ rank }) => rank));
    parts = parts.filter(({ rank }) => rank !== last);
  }
  return theme.dim(fitLine(join(parts), width));
}

function statusParts(status: Status, theme: Theme): Part[] {
  const { model, effort, contextTokens, contextWindow, sessionTokens, cost, approvalMode, gitBranch, cwd } =
    status;
  const share = contextWindow > 0 ? contextTokens / contextWindow : 0;
  const context = `${Math.round(share * 100)}% context`;
  return [
    { rank: 0, text: name(model) },
    ...(effort === undefined ? [] : [{ rank: 5, text: `thinking ${effort}` }]),
    { rank: 1, text: share >= WARNING_SHARE ? theme.warning(context) : context },
    ...(sessionTokens > 0 ? [{ rank: 6, text: `${formatTokens(sessionTokens)} tokens` }] : []),
    ...(cost === null ? [] : [{ rank: 3, text: formatCost(cost) }]),
    { rank: 2, text: approvalMode },
    ...(gitBranch === undefined ? [] : [{ rank: 7, text: name(gitBranch) }]),
    { rank: 8, text: name(cwd) },
  ];
}

/** US dollars with as many digits as say something. */
export function formatCost(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

function join(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(SEPARATOR);
}

function name(text: string): string {
  return toSingleLine(text, MAX_NAME_COLUMNS);
}
