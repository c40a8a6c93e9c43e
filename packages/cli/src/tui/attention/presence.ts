import { readFocus } from "./focus.ts";
import { isInMultiplexer } from "./notification.ts";

// Where nobody tells the focus, who has pressed no key for so long may be elsewhere.
const ABSENCE_MS = 10_000;

interface PresenceParts {
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds. */
  now(): number;
}

/** Whether somebody looks at the terminal, as far as can be told from what comes in. */
export class Presence {
  private focus: "in" | "out" | undefined;
  private lastKeyAt: number;

  constructor(private readonly parts: PresenceParts) {
    this.lastKeyAt = parts.now();
  }

  /** Takes note of input; true for what the terminal said of its focus, which is nobody else's. */
  readInput(data: string): boolean {
    const focus = readFocus(data);
    if (focus === undefined) this.lastKeyAt = this.parts.now();
    this.focus = focus ?? this.focus;
    return focus !== undefined;
  }

  /** The terminal is given back: what happens to the focus from here on is not told to us. */
  forgetFocus(): void {
    this.focus = undefined;
  }

  /** A terminal that says nothing had the focus when it was typed in; a multiplexer may only keep it to itself. */
  get isAway(): boolean {
    const { environment, now } = this.parts;
    if (this.focus !== undefined) return this.focus === "out";
    return isInMultiplexer(environment) && now() - this.lastKeyAt >= ABSENCE_MS;
  }
}
