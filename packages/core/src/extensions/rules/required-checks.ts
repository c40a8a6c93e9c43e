import { loadGrammar } from "../../approval/evaluate-request.ts";
import { findChangedSince, matters } from "../evidence/changed-since.ts";
import { findChecks } from "../evidence/find-checks.ts";
import { EvidenceLedger } from "../evidence/ledger.ts";
import { isGreen } from "../evidence/types.ts";
import type { CheckGuard } from "./types.ts";

/** The place whose checks are watched. */
export interface CheckPlace {
  /** Where commands start. */
  cwd: string;
  /** The root of the project. */
  root: string;
  /** A script of a `package.json`, see `CheckSource`. */
  findScript(name: string, directory: string): string | undefined;
}

/** Knows which of the checks that rules demand have run since the last change. */
export class RequiredChecks {
  private readonly kinds = new EvidenceLedger();
  /** Commands that rules name are checks of their own. */
  private readonly commands = new EvidenceLedger();
  private readonly named = new Map<string, RegExp>();
  private changedAtMs = Number.NEGATIVE_INFINITY;
  private commandAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly place: CheckPlace) {}

  /** @param path relative to the root. */
  noteEdit(path: string, atMs: number): void {
    if (!matters(path)) return;
    this.changedAtMs = atMs;
    this.kinds.noteEdit(path, atMs);
    this.commands.noteEdit(path, atMs);
  }

  async noteCommand(
    ended: { command: string; exitCode: number | null; output: string },
    endedAtMs: number,
  ): Promise<void> {
    this.commandAtMs = endedAtMs;
    const command = { ...ended, endedAtMs };
    this.kinds.noteCommand(command, await this.read(ended.command, false));
    this.commands.noteCommand(command, await this.read(ended.command, true));
  }

  /** Registers what rules demand; commands are recognized from then on. */
  watch(guards: readonly CheckGuard[]): void {
    for (const { run } of guards) {
      if (typeof run === "string") continue;
      const words = run.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      this.named.set(run.join(" "), new RegExp(`^${words.join(" ")}(?: .*)?$`, "s"));
    }
  }

  /** True if a file that matters was changed since then. */
  async hasChangedSince(atMs: number): Promise<boolean> {
    if (this.changedAtMs >= atMs) return true;
    return this.commandAtMs >= atMs && (await findChangedSince(this.place.root, atMs)).length > 0;
  }

  /** True if the check has passed, and nothing that matters was changed after it. */
  async isFulfilled({ run }: CheckGuard): Promise<boolean> {
    const find = (sinceMs: number) => findChangedSince(this.place.root, sinceMs);
    const ledger = typeof run === "string" ? this.kinds : this.commands;
    const { checks } = await ledger.report("", find, () => []);
    return checks.some(
      (check) =>
        isGreen(check) && (typeof run === "string" ? check.kind === run : check.name === run.join(" ")),
    );
  }

  /** True if a line runs the check itself, joined by `&&` to what comes after it. */
  async isRunBefore({ run }: CheckGuard, line: string): Promise<boolean> {
    const segments = line.split("&&");
    for (const segment of segments.slice(0, -1)) {
      if (/[;\n|]|(?<!&)&(?!&)/.test(segment)) return false;
      const found = await this.read(segment, typeof run !== "string");
      if (
        found.some(
          ({ hides, part, kind, name }) =>
            hides === undefined &&
            part === undefined &&
            (typeof run === "string" ? kind === run : name === run.join(" ")),
        )
      )
        return true;
      if (/\bgit\b.*\b(?:commit|push)\b/.test(segment)) return false;
    }
    return false;
  }

  private async read(line: string, isNamed: boolean) {
    const readGrammar = await loadGrammar();
    const own = isNamed
      ? [...this.named].map(([name, pattern]) => ({ name, pattern, kind: "tests" as const }))
      : [];
    const found = findChecks(line, { ...this.place, readGrammar, own });
    return isNamed ? found.filter(({ name }) => this.named.has(name)) : found;
  }
}
