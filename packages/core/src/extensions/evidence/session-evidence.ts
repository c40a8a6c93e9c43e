import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { AgentEvent } from "../../agent/types.ts";
import { loadGrammar } from "../../approval/evaluate-request.ts";
import type { SessionScope } from "../../harness/types.ts";
import { findChangedSince, matters } from "./changed-since.ts";
import { findChecks } from "./find-checks.ts";
import { EvidenceLedger, findMissing } from "./ledger.ts";
import { kindOfScript } from "./runners.ts";
import { CHECK_KINDS, type CheckKind, type EvidenceReport } from "./types.ts";

export interface EvidenceOptions {
  /** The user's own checks; in `command`, `*` stands for any text. */
  checks?: readonly { name: string; command: string; kind: CheckKind }[] | undefined;
  /** What a run may not end without, as far as asking the model once helps. */
  required?: readonly CheckKind[] | undefined;
}

/** An event, and when it happened in milliseconds since the epoch. */
export interface TimedEvent {
  event: AgentEvent;
  atMs: number;
}

const MAX_PACKAGE_BYTES = 1024 * 1024;

/** Reads the events of a session's turns, and reviews its answers. */
export class SessionEvidence {
  private readonly ledger = new EvidenceLedger();
  /** The arguments of the calls that have begun. */
  private readonly inputs = new Map<string, Record<string, unknown>>();
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
    for (const { event, atMs } of events) await this.note(event, atMs);
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

  private async note(event: AgentEvent, atMs: number): Promise<void> {
    switch (event.type) {
      case "agent_start":
        this.ledger.beginTurn(atMs);
        this.wasAsked = false;
        break;
      case "tool_start":
      case "tool_update":
        if (typeof event.input === "object" && event.input !== null)
          this.inputs.set(event.toolCallId, { ...event.input });
        break;
      case "tool_end":
        await this.noteCall(event, atMs);
        this.inputs.delete(event.toolCallId);
        break;
      case "job_update":
        if (event.state === "ended")
          await this.noteCommand(
            { command: event.command, exitCode: event.exitCode ?? null, output: "" },
            atMs,
          );
        break;
      default:
    }
  }

  private async noteCall(event: AgentEvent & { type: "tool_end" }, atMs: number): Promise<void> {
    const { toolName, toolCallId, metadata = {}, isError, output } = event;
    const input = event.input ?? this.inputs.get(toolCallId) ?? {};
    if (!isError && metadata.unchanged !== true) {
      for (const path of changedFilesOf(metadata) ?? changedPaths(toolName, input)) {
        const inProject = isAbsolute(path) ? relative(this.scope.root, path) : path;
        if (!inProject.startsWith("..") && matters(inProject)) this.ledger.noteEdit(inProject, atMs);
      }
    }
    if (toolName !== "bash" || typeof input.command !== "string" || metadata.jobId !== undefined) return;
    const exitCode = typeof metadata.exitCode === "number" ? metadata.exitCode : null;
    // A call that was refused, or could not be started, ran nothing.
    if (exitCode === null && metadata.durationMs === undefined) return;
    await this.noteCommand({ command: input.command, exitCode, output }, atMs);
  }

  private async noteCommand(
    ended: { command: string; exitCode: number | null; output: string },
    endedAtMs: number,
  ): Promise<void> {
    const readGrammar = await loadGrammar();
    const findScript = (name: string, directory: string) => this.readScripts(directory)[name];
    const calls = findChecks(ended.command, { readGrammar, findScript, own: this.own });
    this.ledger.noteCommand({ ...ended, endedAtMs }, calls);
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

/** The files (absolute) that a call says it has changed; undefined for a call whose arguments name them. */
export function changedFilesOf({ changedFiles }: Record<string, unknown>): string[] | undefined {
  return Array.isArray(changedFiles) ? changedFiles.filter((path) => typeof path === "string") : undefined;
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
