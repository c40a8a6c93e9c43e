import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { loadGrammar } from "../../approval/evaluate-request.ts";
import type { SessionScope } from "../../harness/types.ts";
import { findChangedSince, matters } from "./changed-since.ts";
import { findChecks } from "./find-checks.ts";
import { type EndedCommand, EvidenceLedger, findMissing } from "./ledger.ts";
import { kindOfScript } from "./runners.ts";
import { type TimedEvent, TurnReader } from "./turn-events.ts";
import { CHECK_KINDS, type CheckKind, type EvidenceReport } from "./types.ts";

export interface EvidenceOptions {
  /** The user's own checks; in `command`, `*` stands for any text. */
  checks?: readonly { name: string; command: string; kind: CheckKind }[] | undefined;
  /** What a run may not end without, as far as asking the model once helps. */
  required?: readonly CheckKind[] | undefined;
}

const MAX_PACKAGE_BYTES = 1024 * 1024;

/** Reads the events of a session's turns, and reviews its answers. */
export class SessionEvidence {
  private readonly ledger = new EvidenceLedger();
  private readonly reader = new TurnReader({
    beginTurn: (atMs) => {
      this.ledger.beginTurn(atMs);
      this.wasAsked = false;
    },
    noteChanges: ({ toolName, input, changed }, atMs) => {
      for (const path of changed ?? changedPaths(toolName, input)) {
        const inProject = isAbsolute(path) ? relative(this.scope.root, path) : path;
        if (!inProject.startsWith("..") && matters(inProject)) this.ledger.noteEdit(inProject, atMs);
      }
    },
    noteCommand: (ended) => this.noteCommand(ended),
  });
  private readonly own: readonly { name: string; pattern: RegExp; kind: CheckKind }[];
  private readonly required: readonly CheckKind[];
  private wasAsked = false;

  constructor(
    private readonly scope: Pick<SessionScope, "cwd" | "root">,
    { checks = [], required = [] }: EvidenceOptions,
  ) {
    this.own = checks.map(({ name, command, kind }) => ({ name, kind, pattern: toPattern(command) }));
    this.required = required;
  }

  /** @returns what is required of the model before the end, or the report of the turn if it says anything. */
  async review(
    answer: string,
    events: readonly TimedEvent[],
  ): Promise<{ report?: EvidenceReport; demand?: string }> {
    for (const event of events) await this.reader.read(event);
    const { root } = this.scope;
    const report = await this.ledger.report(
      answer,
      (sinceMs) => findChangedSince(root, sinceMs),
      () => this.findAvailable(),
    );
    const lacking = findMissing(this.required, report);
    if (lacking.length > 0 && !this.wasAsked) {
      this.wasAsked = true;
      return { demand: formatDemand(lacking) };
    }
    const isEmpty = report.checks.length + report.missing.length + report.unsupported.length === 0;
    if (this.required.length > 0) return { report: { ...report, lacking } };
    return isEmpty ? {} : { report };
  }

  private async noteCommand(ended: EndedCommand): Promise<void> {
    const { cwd, root } = this.scope;
    const readGrammar = await loadGrammar();
    const findScript = (name: string, directory: string) => this.readScripts(directory)[name];
    const calls = findChecks(ended.command, { readGrammar, findScript, own: this.own, cwd, root });
    this.ledger.noteCommand(ended, calls);
  }

  /** The kinds that the project's scripts are named for. */
  private findAvailable(): CheckKind[] {
    const kinds = new Set([
      ...Object.keys(this.readScripts(".")).map(kindOfScript),
      ...this.own.map(({ kind }) => kind),
    ]);
    return CHECK_KINDS.filter((kind) => kinds.has(kind));
  }

  private readScripts(directory: string): Readonly<Record<string, string>> {
    const { cwd } = this.scope;
    const path = join(isAbsolute(directory) ? directory : join(cwd, directory), "package.json");
    try {
      if (statSync(path).size > MAX_PACKAGE_BYTES) return {};
      const { scripts } = JSON.parse(readFileSync(path, "utf8"));
      const entries = Object.entries(scripts ?? {}).filter(([, text]) => typeof text === "string");
      return Object.fromEntries(entries) as Record<string, string>;
    } catch {
      return {}; // There is none, or it is damaged: then it defines no check.
    }
  }
}

function toPattern(glob: string): RegExp {
  const parts = glob.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

function changedPaths(toolName: string, { file_path: path, patch }: Record<string, unknown>): string[] {
  if (toolName === "edit" || toolName === "write") return typeof path === "string" ? [path] : [];
  if (toolName !== "apply_patch" || typeof patch !== "string") return [];
  const named = patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm);
  return [...named].flatMap(([, name]) => (name === undefined ? [] : [name.trim()]));
}

function formatDemand(lacking: readonly string[]): string {
  return (
    `[The user requires evidence before you finish. It is missing: ${lacking.join("; ")}. Run this for the whole ` +
    "project, after your last change and without a pipe; if it cannot be run, say why.]"
  );
}
