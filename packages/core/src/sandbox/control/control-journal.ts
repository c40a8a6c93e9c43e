import { mkdirSync, renameSync, rmdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../infrastructure/clock.ts";
import { ownIdentity } from "../../infrastructure/processes/process-identity.ts";
import { randomHex } from "../../infrastructure/random-hex.ts";
import { type ControlLook, isSameLook } from "./control-look.ts";
import { formatJournal, type JournalPlaces, toJournalName } from "./journal-text.ts";

// Twice as long as the time between two touches; more, and what the user makes after a session was killed counts as its.
const LEASE_MS = 4_000;

// A look that finds more lets no command run.
const MAX_FILES = 2_000;

/**
 * What there is of control files before boxed commands, in a file of the state directory: a session that is killed tidies
 * nothing up, and a later one has to tell what came about. The file's time is the moment until which boxed commands may
 * be at work, unless it is touched again.
 */
export class ControlJournal {
  private readonly path: string;
  private kept: ControlLook | undefined;
  private isOver = false;
  private isAtRest = true;
  /** The file's times, in seconds. */
  private until: [accessed: number, changed: number] = [0, 0];

  /** @param directory the project's own; see `controlJournalDirectory`. It need not exist. */
  constructor(
    private readonly directory: string,
    private readonly places: JournalPlaces,
  ) {
    this.path = join(directory, toJournalName(ownIdentity(), randomHex(3)));
  }

  /**
   * Written only where it is another than before. One that is not whole takes the place of none. Where it is too much or
   * cannot be written, nothing is kept: what comes about later would be told by a look of long ago. That keeps no command
   * from running.
   */
  keep(look: ControlLook): void {
    if (this.isOver || !look.isComplete) return;
    if (this.kept && isSameLook(this.kept, look)) return;
    try {
      if (look.files.size > MAX_FILES) this.drop();
      else this.write(look);
    } catch {
      this.drop(); // A full disk: a session that is not killed does without.
    }
  }

  /** Boxed commands may be at work from now on, until the next call or for a few seconds. */
  extend(): void {
    this.isAtRest = false;
    this.touch(now() + LEASE_MS);
  }

  /** None is at work any more. What comes later is not theirs, whenever this is called again. */
  rest(): void {
    if (this.isAtRest) return;
    this.isAtRest = true;
    // What was made in the last millisecond has a fraction more.
    this.touch(now() + 1);
  }

  /** Nothing is left to be told, and will not be: all was looked after. */
  end(): void {
    this.isOver = true;
    this.drop();
    try {
      rmdirSync(this.directory);
    } catch {
      // Other sessions keep theirs in it, or it was never made.
    }
  }

  private write(look: ControlLook): void {
    const draft = `${this.path}.draft`;
    const text = formatJournal(look, this.places);
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { mode: 0o600 });
    // Whoever reads it after a kill finds one whole look, and a time that is not too early.
    utimesSync(draft, ...this.until);
    renameSync(draft, this.path);
    this.kept = look;
  }

  private drop(): void {
    this.kept = undefined;
    try {
      // Where it cannot be removed, nothing is as old as it says.
      utimesSync(this.path, 0, 0);
      rmSync(this.path, { force: true });
    } catch {
      // There is none, or the file system has become read-only: its moment is over in some seconds anyway.
    }
  }

  private touch(atMs: number): void {
    this.until = [atMs / 1000, atMs / 1000];
    if (this.kept === undefined) return;
    try {
      utimesSync(this.path, ...this.until);
    } catch {
      this.kept = undefined; // Somebody has removed it: it is written again with the next look.
    }
  }
}
