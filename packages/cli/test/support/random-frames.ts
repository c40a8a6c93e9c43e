import { Chance } from "./chance.ts";
import { ScreenStage } from "./screen-stage.ts";

const WORDS = [
  "word",
  "a",
  "",
  "longer-word",
  "漢字",
  "naïve",
  "— ✓",
  "\x1b[1mbold\x1b[22m",
  "\x1b[31mred\x1b[39m",
  "\x1b[48;5;240m grey\x1b[49m",
  "\x1b]8;;https://example.com/a\x1b\\link\x1b]8;;\x1b\\",
] as const;
/** Terminals disagree about the columns of these. */
const UNSETTLED_WORDS = [...WORDS, "😀", "e\u0301", "👨‍👩‍👧‍👦", "❤️", "🇩🇪", "நி"] as const;

export interface RandomOptions {
  isResized: boolean;
  isSettled: boolean;
  steps?: number;
}

/** A terminal that random frames were drawn in, and what it has to show of them. */
export interface RandomRun {
  stage: ScreenStage;
  /**
   * The shell's output and the finished lines, as text. Each line has a unique number; `#` precedes those
   * that were never in the live region.
   */
  expected: string[];
}

/** Finishes lines, changes the live region and the size at random; the same for the same seed. */
export async function playRandomFrames(seed: number, options: RandomOptions): Promise<RandomRun> {
  const player = new FramePlayer(new Chance(seed), options);
  await player.stage.start(...player.stage.live);
  for (let step = 0; step < (options.steps ?? 40); step++) await player.step();
  await player.stage.draw();
  return player;
}

class FramePlayer implements RandomRun {
  readonly stage: ScreenStage;
  readonly expected: string[];
  private count = 0;

  constructor(
    private readonly chance: Chance,
    private readonly options: RandomOptions,
  ) {
    const before = Array.from({ length: chance.between(0, 40) }, () => this.line("#", 5));
    this.stage = new ScreenStage({ columns: chance.between(20, 100), rows: chance.between(4, 30), before });
    this.stage.live = [this.line("~", 3)];
    this.expected = before.map(plainText);
  }

  async step(): Promise<void> {
    const act = this.chance.pick([
      () => this.finishNew(),
      () => this.finishLive(),
      () => this.add(),
      () => this.lengthen(),
      () => this.lengthen(),
      () => this.remove(),
      () => this.replace(),
      () => this.resize(),
    ]);
    await act();
    this.moveCursor();
    if (this.chance.next() < 0.8) this.stage.screen.renderNow();
  }

  private line(mark: "#" | "~", words: number): string {
    const vocabulary = this.options.isSettled ? WORDS : UNSETTLED_WORDS;
    const text = Array.from({ length: this.chance.between(0, words) }, () => this.chance.pick(vocabulary));
    return `${mark}${this.count++}: ${text.join(" ")}`;
  }

  private finish(lines: readonly string[]): void {
    this.expected.push(...lines.map(plainText));
    this.stage.screen.finish(lines);
  }

  private finishNew(): void {
    const most = this.chance.next() < 0.1 ? 60 : 6;
    this.finish(Array.from({ length: this.chance.between(1, most) }, () => this.line("#", 12)));
  }

  /** The live lines become finished, like a block of an answer. */
  private finishLive(): void {
    const { stage } = this;
    this.finish(stage.live.splice(0, this.chance.between(1, stage.live.length)).map(withoutCursor));
  }

  private add(): void {
    this.stage.live.splice(this.chance.between(0, this.stage.live.length), 0, this.line("~", 10));
  }

  private lengthen(): void {
    const index = this.chance.between(0, this.stage.live.length - 1);
    const line = this.stage.live[index];
    if (line !== undefined) this.stage.live[index] = `${withoutCursor(line)} ${this.chance.pick(WORDS)}`;
  }

  private remove(): void {
    this.stage.live.splice(this.chance.between(0, this.stage.live.length), this.chance.between(1, 3));
  }

  private replace(): void {
    this.stage.live = Array.from({ length: this.chance.between(0, 12) }, () => this.line("~", 10));
  }

  private async resize(): Promise<void> {
    if (!this.options.isResized) return;
    const { terminal } = this.stage;
    const columns = this.chance.next() < 0.7 ? this.chance.between(20, 100) : terminal.columns;
    const rows = this.chance.next() < 0.5 ? this.chance.between(4, 30) : terminal.rows;
    await terminal.resize(columns, rows);
  }

  private moveCursor(): void {
    this.stage.live = this.stage.live.map(withoutCursor);
    const index = this.chance.between(0, this.stage.live.length);
    if (index < this.stage.live.length) this.stage.live[index] += "|";
  }
}

function withoutCursor(line: string): string {
  return line.endsWith("|") ? line.slice(0, -1) : line;
}

/** A line as it looks in the terminal. */
export function plainText(line: string): string {
  return Bun.stripANSI(withoutCursor(line)).trimEnd();
}
