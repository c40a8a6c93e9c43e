import type { Cell, Look } from "./screen-cells.ts";

/** The colours of a terminal as `#rrggbb`. */
export interface Palette {
  /** The colours of text, of the background, and of the frame around the screen. */
  foreground: string;
  background: string;
  border: string;
  /** The first eight of the sixteen, or all. */
  colors: readonly string[];
}

export interface SvgOptions {
  title: string;
  /** The columns of the screen. */
  columns: number;
  palette: Palette;
  /** The palette for readers with a light page. */
  lightPalette?: Palette;
}

// Columns are 0.6 em wide in nearly every monospaced font; `textLength` fits the others to the grid.
const FONT_SIZE = 14;
const COLUMN = 8.4;
const ROW = 19;
const BASELINE = 14;
const MARGIN = 16;
const TITLE_HEIGHT = 36;
const FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";
/** The opacity of dim text. */
const DIM = 0.65;

/** A screen as a picture that needs no other file: text as text, in a window. */
export function toSvg(rows: readonly (readonly Cell[])[], options: SvgOptions): string {
  const { title, columns } = options;
  const width = Math.round(columns * COLUMN + 2 * MARGIN);
  const height = rows.length * ROW + TITLE_HEIGHT + MARGIN;
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  const lines = rows.map((row, index) => rowToSvg(row, TITLE_HEIGHT + index * ROW));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" ${size} role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${styleSheet(options)}</style>`,
    `<rect class="ground frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...[0, 1, 2].map((dot) => `<circle class="dot" cx="${18 + dot * 18}" cy="18" r="5"/>`),
    `<text class="dim" x="${width / 2}" y="22" text-anchor="middle">${escapeXml(title)}</text>`,
    ...lines.filter((line) => line !== ""),
    "</svg>",
    "",
  ].join("\n");
}

function rowToSvg(row: readonly Cell[], top: number): string {
  return toRuns(row)
    .map(({ column, columns, text, look }) => {
      const x = round(MARGIN + column * COLUMN);
      const width = round(columns * COLUMN);
      const ground = groundClass(look);
      const box = `<rect class="${ground}" x="${x}" y="${top}" width="${width}" height="${ROW}"/>`;
      const length = `textLength="${width}" lengthAdjust="spacingAndGlyphs"`;
      const written = `<text${textClasses(look)} x="${x}" y="${top + BASELINE}" ${length}>${escapeXml(text)}</text>`;
      return (ground === undefined ? "" : box) + (text.trim() === "" ? "" : written);
    })
    .join("");
}

/** Neighbouring cells with the same style. */
interface Run extends Cell {
  column: number;
}

function toRuns(row: readonly Cell[]): Run[] {
  const runs: Run[] = [];
  let column = 0;
  for (const { text, columns, look } of row) {
    const last = runs.at(-1);
    // A wide character is drawn separately: fonts do not agree that it is two columns wide.
    const isNarrow = columns === 1 && last !== undefined && last.columns === last.text.length;
    if (isNarrow && Bun.deepEquals(last.look, look)) {
      last.text += text;
      last.columns += columns;
    } else runs.push({ column, columns, text, look });
    column += columns;
  }
  return runs.map(trimEnd).filter(({ text, look }) => text !== "" || groundClass(look) !== undefined);
}

/** Trailing blanks without a background are invisible. */
function trimEnd(run: Run): Run {
  if (groundClass(run.look) !== undefined) return run;
  const text = run.text.trimEnd();
  return { ...run, text, columns: run.columns - (run.text.length - text.length) };
}

function textClasses({ foreground, background, isInverse, ...look }: Look): string {
  const color = isInverse ? background : foreground;
  const classes = [
    ...(color !== undefined ? [`c${color}`] : isInverse ? ["ground"] : []),
    ...(look.isBold ? ["bold"] : []),
    ...(look.isDim ? ["dim"] : []),
    ...(look.isItalic ? ["italic"] : []),
    ...(look.isUnderlined ? ["underline"] : []),
    ...(look.isStruck ? ["strike"] : []),
  ];
  return classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
}

function groundClass({ foreground, background, isInverse }: Look): string | undefined {
  const color = isInverse ? foreground : background;
  if (color !== undefined) return `c${color}`;
  return isInverse ? "letter" : undefined;
}

function styleSheet({ palette, lightPalette }: SvgOptions): string {
  return [
    `text{font:${FONT_SIZE}px ${FONTS};white-space:pre}`,
    `.bold{font-weight:bold}.dim{opacity:${DIM}}.italic{font-style:italic}`,
    ".underline{text-decoration:underline}.strike{text-decoration:line-through}",
    colorRules(palette),
    ...(lightPalette ? [`@media (prefers-color-scheme:light){${colorRules(lightPalette)}}`] : []),
  ].join("");
}

function colorRules({ foreground, background, border, colors }: Palette): string {
  return [
    `text,.letter{fill:${foreground}}.ground{fill:${background}}.frame{stroke:${border}}.dot{fill:${border}}`,
    ...colors.map((color, index) => `.c${index}{fill:${color}}`),
  ].join("");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
