import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";

/** Who is told what happens in a terminal. */
export interface TerminalWatcher {
  /** The size may have changed; called before whoever draws in the terminal is told. */
  onResize(): void;
  /** Input has been dealt with. */
  afterInput(): void;
}

/** A terminal that also tells somebody else what happens. */
export class WatchedTerminal implements Terminal {
  constructor(
    private readonly terminal: Terminal,
    private readonly watcher: TerminalWatcher,
  ) {}

  get columns(): number {
    return Math.max(1, this.terminal.columns);
  }

  get rows(): number {
    return Math.max(1, this.terminal.rows);
  }

  get kittyProtocolActive(): boolean {
    return this.terminal.kittyProtocolActive;
  }

  /** It has answered what pi-tui asks when it starts: about its keyboard, and what class of terminal it is. */
  get hasAnswered(): boolean {
    const { terminal } = this;
    return (
      terminal.kittyProtocolActive ||
      ("modifyOtherKeysActive" in terminal && terminal.modifyOtherKeysActive === true)
    );
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    const handleInput = (data: string) => {
      onInput(data);
      this.watcher.afterInput();
    };
    const handleResize = () => {
      this.watcher.onResize();
      onResize();
    };
    this.terminal.start(handleInput, handleResize);
  }

  stop(): void {
    this.terminal.stop();
  }

  drainInput(maxMs?: number, idleMs?: number): Promise<void> {
    return this.terminal.drainInput(maxMs, idleMs);
  }

  write(data: string): void {
    this.terminal.write(data);
  }

  moveBy(lines: number): void {
    this.terminal.moveBy(lines);
  }

  hideCursor(): void {
    this.terminal.hideCursor();
  }

  showCursor(): void {
    this.terminal.showCursor();
  }

  clearLine(): void {
    this.terminal.clearLine();
  }

  clearFromCursor(): void {
    this.terminal.clearFromCursor();
  }

  /** Would clear what the shell printed before us; nobody may. */
  clearScreen(): void {
    throw new Error("The screen is shared with the shell and is never cleared.");
  }

  setTitle(title: string): void {
    this.terminal.setTitle(title);
  }

  setProgress(active: boolean): void {
    this.terminal.setProgress(active);
  }
}
