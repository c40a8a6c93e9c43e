import { formatTokens } from "../../progress-lines.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { fitLine, visibleWidth } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";
import type { Status } from "../view.ts";

const SEPARATOR = " · ";
// Of the tokens from which on the conversation is summarised, or of the window where it never is.
const WARNING_SHARE = 0.85;
const MAX_NAME_COLUMNS = 40;

interface Part {
  text: string;
  /** The parts with the highest numbers go first where there is no room. */
  rank: number;
  /** What is shown in its stead before it goes. */
  short?: Part | undefined;
  isWarning?: boolean;
}

/**
 * One line about the session: model, context, cost, approval mode, place. What does not fit is left out, part by part; of
 * the place its name stays longest.
 */
export function statusLine(status: Status, { width, theme }: { width: number; theme: Theme }): string {
  let parts = statusParts(status);
  while (parts.length > 1 && visibleWidth(join(parts)) > width) parts = withoutLast(parts);
  const shown = join(parts);
  // Said in characters and by not being dim: no colour for a warning can be read on every background.
  const warning = parts.find(({ isWarning }) => isWarning)?.text;
  if (warning === undefined || visibleWidth(shown) > width) return theme.dim(fitLine(shown, width));
  const start = shown.indexOf(warning);
  const end = start + warning.length;
  return theme.dim(shown.slice(0, start)) + theme.bold(warning) + theme.dim(shown.slice(end));
}

/** The least important part replaced by its short form, or left out. */
function withoutLast(parts: readonly Part[]): Part[] {
  const last = Math.max(...parts.map(({ rank }) => rank));
  return parts.flatMap((part) => {
    if (part.rank !== last) return [part];
    return part.short === undefined ? [] : [part.short];
  });
}

function statusParts(status: Status): Part[] {
  const { model, effort, sessionTokens, cost, approvalMode, isBoxed, gitBranch, cwd } = status;
  const { contextTokens, contextWindow, isContextEstimated, compactsAt = contextWindow } = status;
  const share = contextWindow > 0 ? contextTokens / contextWindow : 0;
  const context = `${isContextEstimated ? "~" : ""}${Math.round(share * 100)}% context`;
  const isNearLimit = share > 0 && contextTokens >= compactsAt * WARNING_SHARE;
  return [
    modelPart(model),
    ...(effort === undefined ? [] : [{ rank: 6, text: `thinking ${effort}` }]),
    isNearLimit ? { rank: 1, text: `! ${context}`, isWarning: true } : { rank: 1, text: context },
    ...(sessionTokens > 0 ? [{ rank: 7, text: `${formatTokens(sessionTokens)} tokens` }] : []),
    ...(cost === null ? [] : [{ rank: 3, text: formatCost(cost) }]),
    { rank: 2, text: approvalMode },
    ...(isBoxed === undefined ? [] : [{ rank: 9, text: isBoxed ? "boxed" : "no box" }]),
    ...(gitBranch === undefined ? [] : [{ rank: 8, text: name(gitBranch) }]),
    placePart(cwd),
  ];
}

/** A model by its own name, without those of the servers before it, where there is no room. */
function modelPart(model: string): Part {
  const own = model.slice(model.lastIndexOf("/") + 1);
  return { rank: 4, text: name(model), short: { rank: 0, text: name(own === "" ? model : own) } };
}

/** The directory from its end, where a person knows it by. */
function placePart(cwd: string): Part {
  const path = toSingleLine(cwd, Number.POSITIVE_INFINITY);
  const own = path.slice(path.lastIndexOf("/") + 1);
  const text = path.length > MAX_NAME_COLUMNS ? `…/${name(own)}` : path;
  return { rank: 10, text, short: own === "" ? undefined : { rank: 5, text: name(own) } };
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
