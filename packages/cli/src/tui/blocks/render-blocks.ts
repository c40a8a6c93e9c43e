import { assertNever, type NoticeLevel } from "@diligent/core/run";
import { sanitizeTerminalText, toSingleLine } from "../../text/terminal-text.ts";
import { renderMarkdown } from "../markdown/render.ts";
import { findRowBehind } from "../markdown/stream.ts";
import { fitLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import {
  expandTabs,
  formatCount,
  formatDirectory,
  formatDuration,
  lastLines,
  wrapIndented,
} from "../text.ts";
import { type Block, isCallBlock } from "../view.ts";
import { renderDiff } from "./diff.ts";
import type { BlockContext } from "./tool-call.ts";
import { renderCallBlock } from "./tool-renderers.ts";

/**
 * A block of the transcript as lines of at most `width` columns, styled and safe for a terminal; none for a
 * block without content. Blank lines between blocks are not included.
 */
export function renderBlock(block: Block, context: BlockContext): string[] {
  return renderContent(block, context).map((line) => fitLine(line, context.width));
}

/**
 * What the last block above ends with: nothing yet, a tool call on one line, the written part of an open
 * answer, or anything else.
 */
export type BlockEnd = "none" | "call" | "open" | "other";

/**
 * The lines of blocks including the blank lines between them, and what they end with, for the blocks below.
 */
interface PlacedBlocks {
  lines: string[];
  end: BlockEnd;
}

/**
 * Blocks one below the other, with a blank line before each that has content and follows another block;
 * consecutive calls on one line stay together.
 * @param above what precedes them.
 */
export function renderBlocks(
  blocks: readonly Block[],
  context: BlockContext,
  above: BlockEnd = "none",
): PlacedBlocks {
  let end = above;
  const lines = blocks.flatMap((block) => {
    const own = renderBlock(block, context);
    if (own.length === 0) return [];
    const isTogether = end === "call" && isOneLineCall(block, own);
    const isContinued = end === "open" && block.type === "answer" && block.written !== undefined;
    const isFirst = end === "none" || isContinued;
    end = isOneLineCall(block, own) ? "call" : "other";
    return isFirst || isTogether ? own : ["", ...own];
  });
  return { lines, end };
}

function isOneLineCall(block: Block, lines: readonly string[]): boolean {
  return isCallBlock(block) && lines.length === 1;
}

function renderContent(block: Block, context: BlockContext): string[] {
  switch (block.type) {
    case "prompt":
      return renderPrompt(block.text, context);
    case "answer":
      return renderAnswer(block, context);
    case "thinking":
      return renderThinking(block, context);
    case "tool":
    case "shell":
      return renderCallBlock(block, context);
    case "notice":
      return renderNotice(block.text, block.level, context);
    case "output":
      return renderOutput(block.text, context);
    case "change":
      return renderChangeBlock(block, context);
    case "opening":
      return renderOpening(block, context);
    case "resumed":
      return renderResumed(block.hiddenMessages, context);
    default:
      return assertNever(block);
  }
}

function renderAnswer(
  { markdown, written = 0 }: Extract<Block, { type: "answer" }>,
  context: BlockContext,
): string[] {
  const rows = renderMarkdown(markdown, context);
  return written === 0 ? rows : rows.slice(findRowBehind(rows, written));
}

function renderResumed(hiddenMessages: number, { width, theme }: BlockContext): string[] {
  const text = `… ${formatCount(hiddenMessages, "message")} above; /tree or diligent sessions show`;
  return wrapText(theme.dim(text), width);
}

// Nobody reads more of a longer change in a transcript.
const MAX_LINES = 400;
const MAX_PATH_COLUMNS = 300;

/** `src/a.ts +3 −1` and the complete diff. */
function renderChangeBlock(
  { path, diff, added, removed }: Extract<Block, { type: "change" }>,
  { width, theme }: BlockContext,
): string[] {
  const safe = expandTabs(sanitizeTerminalText(diff));
  return [
    `${theme.bold(toSingleLine(path, MAX_PATH_COLUMNS))} ${theme.dim(`+${added} −${removed}`)}`,
    ...renderDiff(safe, { width, theme, maxLines: MAX_LINES }),
  ];
}

/** A message of the program: plain for information, labelled and coloured for problems. */
function renderNotice(text: string, level: NoticeLevel, { width, theme }: BlockContext): string[] {
  const safe = expandTabs(sanitizeTerminalText(text)).trim();
  switch (level) {
    case "info":
      return wrapText(theme.dim(safe), width);
    case "warning":
      // Yellow is hard to read on white, so only the label is yellow.
      return wrapText(`${theme.warning(theme.bold("warning:"))} ${safe}`, width);
    case "error":
      return wrapText(theme.error(`${theme.bold("error:")} ${safe}`), width);
    default:
      return assertNever(level);
  }
}

/** The plain output of a slash command. */
function renderOutput(text: string, { width }: BlockContext): string[] {
  const safe = expandTabs(sanitizeTerminalText(text))
    .replace(/^(?: *\n)+/, "")
    .trimEnd();
  return safe === "" ? [] : safe.split("\n").flatMap((line) => wrapIndented(line, width));
}

const MARK = "> ";
const MAX_ROWS = 12;
const SHOWN_ROWS = 6;

/** The user's message, marked; a long text is cut after its first lines, with the number of lines. */
function renderPrompt(text: string, { width, theme }: BlockContext): string[] {
  const inner = Math.max(1, width - MARK.length);
  const trimmed = text.replace(/^(?:[ \t]*\r?\n)+/, "").trimEnd();
  // No more is laid out than could be shown.
  const head = trimmed.slice(0, inner * (MAX_ROWS + 1) * 2);
  const rows = wrapText(expandTabs(sanitizeTerminalText(head)), inner);
  const isWhole = head.length === trimmed.length && rows.length <= MAX_ROWS;
  const shown = (isWhole ? rows : rows.slice(0, SHOWN_ROWS)).map(theme.user);
  const all = isWhole ? shown : [...shown, theme.dim(describeLength(trimmed))];
  return all.map((row, index) => (index === 0 ? theme.accent(theme.bold(MARK)) + row : `  ${row}`.trimEnd()));
}

function describeLength(text: string): string {
  const lines = text.split("\n").length;
  return `[${lines > SHOWN_ROWS ? formatCount(lines, "line") : formatCount(text.length, "character")}]`;
}

const MAX_LIVE_ROWS = 4;
// Tenths of a second are shown, so a shorter time would be 0.
const MIN_SHOWN_MS = 100;

/** The model's thinking: its last lines while it streams, then only its duration. */
function renderThinking(
  { text, startedAt, endedAt }: Extract<Block, { type: "thinking" }>,
  { width, theme }: BlockContext,
): string[] {
  if (endedAt !== undefined)
    return [theme.dim(`Thought for ${formatDuration(Math.max(MIN_SHOWN_MS, endedAt - startedAt))}`)];
  // Only the end is laid out, however long the text is.
  const end = text.slice(-width * (MAX_LIVE_ROWS + 1) * 2).trim();
  if (end === "") return [];
  const rows = wrapText(expandTabs(sanitizeTerminalText(end)), width).filter((row) => row.trim() !== "");
  return lastLines(rows, MAX_LIVE_ROWS).shown.map((row) => theme.dim(theme.italic(row)));
}

const SEPARATOR = " · ";
const MAX_MODEL_COLUMNS = 40;

/** The first line of a session: what is running here, where, and how to find out more. */
function renderOpening(
  { version, model, cwd, isSandboxed: isBoxed }: Extract<Block, { type: "opening" }>,
  { width, theme }: BlockContext,
): string[] {
  const own = model.slice(model.lastIndexOf("/") + 1) || model;
  const { text: place, ownName } = formatDirectory(cwd);
  const partsWith = (where: string, name: string) => [
    `diligent ${version}`,
    toSingleLine(name, MAX_MODEL_COLUMNS),
    where,
    isBoxed ? "sandbox on" : "no sandbox",
    "/ for commands",
  ];
  const fits = (parts: readonly string[]) => visibleWidth(parts.join(SEPARATOR)) <= width;
  const shortPlace = ownName ?? place;
  const candidates = [partsWith(place, model), partsWith(shortPlace, model)];
  return joinInRows(candidates.find(fits) ?? partsWith(shortPlace, own), width).map(theme.dim);
}

/**
 * The parts below each other if they do not fit on one row; a part is broken only if it is too long by
 * itself.
 */
function joinInRows(parts: readonly string[], width: number): string[] {
  const rows: string[] = [];
  for (const part of parts) {
    const longer = rows.length === 0 ? part : `${rows.at(-1)}${SEPARATOR}${part}`;
    if (rows.length > 0 && visibleWidth(longer) <= width) rows[rows.length - 1] = longer;
    else rows.push(part);
  }
  return rows.flatMap((row) => wrapText(row, width));
}
