import type { Terminal } from "@earendil-works/pi-tui";
import { Terminal as Emulator, type IBuffer } from "@xterm/headless";

export interface VirtualTerminalOptions {
  columns?: number;
  rows?: number;
  /** How many lines above the screen are kept. */
  scrollback?: number;
  /** Answers queries like a terminal; default: true. */
  isTalking?: boolean;
}

export interface VirtualCursor {
  /** Relative to the first row of the screen, from 0. */
  row: number;
  column: number;
  isVisible: boolean;
}

/**
 * A terminal in memory: xterm.js interprets its input, and tests see what a person would. It is pi-tui's
 * `Terminal` for a screen tested by itself, and the screen of a program in a pseudo-terminal. It is up to
 * date after `flush`.
 */
export class VirtualTerminal implements Terminal {
  kittyProtocolActive = false;
  /** Everything written, unchanged; one element per call. */
  readonly writes: string[] = [];
  title = "";
  /** Receives the terminal's replies to queries, if no screen was started on it. */
  onReply: ((data: string) => void) | undefined;
  private readonly emulator: Emulator;
  private delayed: string[] | undefined;
  private isCursorVisible = true;
  private onInput: ((data: string) => void) | undefined;
  private onResize: (() => void) | undefined;

  constructor({
    columns = 80,
    rows = 24,
    scrollback = 10_000,
    isTalking = true,
  }: VirtualTerminalOptions = {}) {
    this.emulator = new Emulator({ cols: columns, rows, scrollback, allowProposedApi: true });
    this.emulator.onTitleChange((title) => {
      this.title = title;
    });
    if (isTalking) this.emulator.onData((reply) => (this.onInput ?? this.onReply)?.(reply));
    for (const [final, isVisible] of [
      ["h", true],
      ["l", false],
    ] as const)
      this.emulator.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        if (parameters.includes(25)) this.isCursorVisible = isVisible;
        return false;
      });
  }

  get columns(): number {
    return this.emulator.cols;
  }

  get rows(): number {
    return this.emulator.rows;
  }

  /** Everything written, as one text. */
  get bytes(): string {
    return this.writes.join("");
  }

  /** The modes that a program may have left on, as xterm.js knows them. */
  get modes(): Emulator["modes"] {
    return this.emulator.modes;
  }

  /** True while the alternate screen is shown. */
  get isAlternate(): boolean {
    return this.emulator.buffer.active.type === "alternate";
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.onInput = onInput;
    this.onResize = onResize;
    this.write("\x1b[?2004h");
  }

  stop(): void {
    this.write("\x1b[?2004l");
    this.onInput = undefined;
    this.onResize = undefined;
  }

  async drainInput(): Promise<void> {}

  write(data: string): void {
    this.writes.push(data);
    if (this.delayed === undefined) this.emulator.write(data);
    else this.delayed.push(data);
  }

  /** Delays output from now on until `deliver`. */
  delay(): void {
    this.delayed ??= [];
  }

  deliver(): void {
    for (const data of this.delayed ?? []) this.emulator.write(data);
    this.delayed = undefined;
  }

  /** Resolves when everything written is on the screen. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.emulator.write("", resolve));
  }

  /** The text of the visible rows, without trailing blanks. */
  screen(): string[] {
    const buffer = this.emulator.buffer.active;
    return readRows(buffer, buffer.baseY, buffer.baseY + this.rows);
  }

  /**
   * The text of all rows, starting with those above the screen. Empty rows below the last written one are
   * left out.
   */
  scrollback(): string[] {
    const rows = readRows(this.emulator.buffer.active, 0, this.emulator.buffer.active.length);
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }

  /** Like `scrollback`, with rows joined that the terminal itself has wrapped. */
  lines(): string[] {
    const buffer = this.emulator.buffer.active;
    const lines: string[] = [];
    for (let row = 0; row < buffer.length; row++) {
      const isWrapped = buffer.getLine(row)?.isWrapped ?? false;
      const text = readWrappedRow(buffer, row);
      if (isWrapped) lines.push((lines.pop() ?? "") + text);
      else lines.push(text);
    }
    return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1);
  }

  /** The style of a cell on the current screen. */
  cell(row: number, column: number) {
    const buffer = this.emulator.buffer.active;
    const cell = buffer.getLine(buffer.baseY + row)?.getCell(column);
    if (cell === undefined) throw new Error(`No cell at row ${row}, column ${column}`);
    return {
      text: cell.getChars(),
      width: cell.getWidth(),
      isBold: cell.isBold() !== 0,
      isInverse: cell.isInverse() !== 0,
      foreground: cell.isFgDefault() ? undefined : cell.getFgColor(),
      background: cell.isBgDefault() ? undefined : cell.getBgColor(),
    };
  }

  cursor(): VirtualCursor {
    const { cursorX, cursorY } = this.emulator.buffer.active;
    return { row: cursorY, column: cursorX, isVisible: this.isCursorVisible };
  }

  /** Changes the size like a user who drags the window's corner, and notifies the program. */
  async resize(columns: number, rows: number): Promise<void> {
    // Delayed output was also written for the current size.
    for (let written = -1; written !== this.writes.length; ) {
      written = this.writes.length;
      await this.flush();
    }
    this.emulator.resize(columns, rows);
    this.onResize?.();
  }

  /** Sends input: one key, one paste or one reply. */
  type(data: string): void {
    this.onInput?.(data);
  }

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
  }

  hideCursor(): void {
    this.write("\x1b[?25l");
  }

  showCursor(): void {
    this.write("\x1b[?25h");
  }

  clearLine(): void {
    this.write("\x1b[K");
  }

  clearFromCursor(): void {
    this.write("\x1b[J");
  }

  clearScreen(): void {
    this.write("\x1b[2J\x1b[H");
  }

  setTitle(title: string): void {
    this.write(`\x1b]0;${title}\x07`);
  }

  setProgress(active: boolean): void {
    this.write(`\x1b]9;4;${active ? 3 : 0}\x07`);
  }
}

/**
 * A row whose line continues in the next row keeps its blanks, but not a last cell into which a wide
 * character did not fit.
 */
function readWrappedRow(buffer: IBuffer, row: number): string {
  const line = buffer.getLine(row);
  const next = buffer.getLine(row + 1);
  if (line === undefined || !next?.isWrapped) return line?.translateToString(true) ?? "";
  const isCellLeft = line.getCell(line.length - 1)?.getChars() === "" && next.getCell(0)?.getWidth() === 2;
  return line.translateToString(false, 0, line.length - (isCellLeft ? 1 : 0));
}

function readRows(buffer: IBuffer, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => {
    return buffer.getLine(from + index)?.translateToString(true) ?? "";
  });
}
