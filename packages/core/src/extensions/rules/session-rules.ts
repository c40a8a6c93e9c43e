import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import type { FinishedCall } from "../../agent/types.ts";
import { loadBashSyntax, type ReadSyntax } from "../../approval/bash/grammar.ts";
import type { SessionScope } from "../../harness/types.ts";
import { homeDirectory } from "../../infrastructure/runtime.ts";
import { type TimedEvent, TurnReader } from "../evidence/turn-events.ts";
import {
  type CommandPlace,
  findCommandViolation,
  listTouched,
  readBranch,
  type Violation,
} from "./check-command.ts";
import type { PlacedRule, PlaceRules } from "./find-rules.ts";
import { listDependencies, MANIFEST } from "./new-dependencies.ts";
import { refusesPath, type TouchedPath } from "./path-guard.ts";
import { RequiredChecks } from "./required-checks.ts";
import { readServerCall } from "./server-call.ts";
import { readCalls } from "./shell/read-calls.ts";
import type { CheckGuard } from "./types.ts";

const MAX_FILE_BYTES = 256 * 1024;
const MAX_OUTPUT_CHARS = 100_000;

/** Holds the calls of a session, and the ends of its turns, to the rules of its place. */
export class SessionRules {
  private readonly checks: RequiredChecks;
  private readonly reader = new TurnReader({
    beginTurn: (atMs) => {
      this.turnBeganMs = atMs;
      this.wasAsked = false;
    },
    noteChanges: ({ toolName, input, changed }, atMs) => {
      const touched = this.listTouchedByTool(toolName, input).filter(({ access }) => access === "write");
      for (const path of changed ?? touched.map((each) => each.path))
        this.checks.noteEdit(relative(this.scope.root, path), atMs);
    },
    noteCommand: ({ command, exitCode, output, endedAtMs }) =>
      this.checks.noteCommand({ command, exitCode, output: output.slice(-MAX_OUTPUT_CHARS) }, endedAtMs),
  });
  private turnBeganMs = Number.NEGATIVE_INFINITY;
  private wasAsked = false;

  constructor(
    private readonly scope: Pick<SessionScope, "cwd" | "root" | "environment">,
    private readonly found: PlaceRules,
  ) {
    this.checks = new RequiredChecks({
      cwd: scope.cwd,
      root: scope.root,
      findScript: (name, directory) => this.findScript(name, directory),
    });
    this.checks.watch(this.checkGuards().map(({ guard }) => guard));
  }

  /** What a call would break. */
  async check({ toolName, input }: Pick<FinishedCall, "toolName" | "input">): Promise<Violation | undefined> {
    if (toolName === "bash")
      return typeof input.command === "string" ? this.checkCommand(input.command) : undefined;
    const server = readServerCall(toolName, input);
    for (const line of server?.commands ?? []) {
      const violation = await this.checkCommand(line);
      if (violation) return violation;
    }
    const touched = this.listTouchedByTool(toolName, input);
    if (touched.length === 0) return undefined;
    await this.found.addDirectories(this.found.listDirectories(touched.map(({ path }) => dirname(path))));
    for (const rule of this.active(touched.map(({ path }) => path))) {
      for (const guard of rule.guards) {
        const where = { directory: rule.directory, root: this.scope.root, realPath };
        const hit =
          guard.kind === "path" ? touched.find((each) => refusesPath(guard, each, where)) : undefined;
        if (hit) return { rule, why: "" };
        if (guard.kind === "dependencies") {
          const name = this.findNewDependency(toolName, input);
          if (name !== undefined) return { rule, why: `\`${name}\` is new` };
        }
      }
    }
    return undefined;
  }

  private async checkCommand(line: string): Promise<Violation | undefined> {
    const place = await this.openPlace();
    const seen = readCalls(line, place);
    const paths = seen.calls.flatMap((call) => [
      call.cwd,
      ...listTouched(call, place).map(({ path }) => dirname(path)),
    ]);
    await this.found.addDirectories(this.found.listDirectories(paths));
    const { violation, needed } = findCommandViolation(line, seen, this.active(paths), place);
    if (violation) return violation;
    for (const { rule, guard } of needed) {
      this.checks.watch([guard]);
      if ((await this.checks.isFulfilled(guard)) || (await this.checks.isRunBefore(guard, line))) continue;
      return { rule, why: `${describeRun(guard)} has not passed since the last change` };
    }
    return undefined;
  }

  /** Rules of directories below bind what is done there. */
  private active(paths: readonly string[]): PlacedRule[] {
    return this.found.rules.filter(
      ({ state, guards, isNested, directory }) =>
        state === "active" &&
        guards.length > 0 &&
        (!isNested || paths.some((path) => path === directory || path.startsWith(`${directory}/`))),
    );
  }

  /** What is missing at the end of a turn, for the model, the first time; the violations after that. */
  async reviewEnd(): Promise<{ demand?: string; violations: PlacedRule[] }> {
    const guards = this.checkGuards().filter(({ guard }) => guard.before === "end");
    if (guards.length === 0 || !(await this.checks.hasChangedSince(this.turnBeganMs)))
      return { violations: [] };
    const missing: { rule: PlacedRule; guard: CheckGuard }[] = [];
    for (const each of guards) if (!(await this.checks.isFulfilled(each.guard))) missing.push(each);
    if (missing.length === 0) return { violations: [] };
    if (this.wasAsked) return { violations: [...new Set(missing.map(({ rule }) => rule))] };
    this.wasAsked = true;
    const lines = missing.map(
      ({ rule, guard }) => `${quoteRule(rule)} ${describeRun(guard)} has not passed since your last change.`,
    );
    return {
      demand: `[Before you end your turn: ${lines.join(" ")} Run this now, without a pipe; if it cannot be run, say why.]`,
      violations: [],
    };
  }

  noteEvent(event: TimedEvent): Promise<void> {
    return this.reader.read(event);
  }

  private checkGuards(): { rule: PlacedRule; guard: CheckGuard }[] {
    return this.found.rules
      .filter(({ state, isNested }) => state === "active" && !isNested)
      .flatMap((rule) => rule.guards.flatMap((guard) => (guard.kind === "check" ? [{ rule, guard }] : [])));
  }

  private listTouchedByTool(toolName: string, input: Record<string, unknown>): TouchedPath[] {
    const given = input.file_path ?? input.path;
    const isPath = typeof given === "string" && given !== "";
    if (toolName === "read" || toolName === "grep")
      return isPath ? [{ path: this.toAbsolute(given), access: "read" }] : [];
    if (toolName === "edit" || toolName === "write") return isPath ? this.toWritten(given) : [];
    if (toolName === "lsp") return isPath && input.action === "rename" ? this.toWritten(given) : [];
    const server = readServerCall(toolName, input);
    if (server)
      return server.paths.flatMap((path) =>
        server.isReading ? [{ path: this.toAbsolute(path), access: "read" as const }] : this.toWritten(path),
      );
    if (toolName !== "apply_patch" || typeof input.patch !== "string") return [];
    const named = input.patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm);
    return [...named].flatMap(([, path = ""]) => this.toWritten(path.trim()));
  }

  private toWritten(given: string): TouchedPath[] {
    const path = this.toAbsolute(given);
    const isNew = statSync(path, { throwIfNoEntry: false }) === undefined;
    return [{ path, access: "write" }, ...(isNew ? [{ path, access: "create" as const }] : [])];
  }

  private toAbsolute(given: string): string {
    const home = homeDirectory(this.scope.environment);
    const path = home !== undefined && /^~(?=\/)/.test(given) ? home + given.slice(1) : given;
    return isAbsolute(path) ? path : join(this.scope.cwd, path);
  }

  /** A dependency that a changed manifest lists for the first time. */
  private findNewDependency(toolName: string, input: Record<string, unknown>): string | undefined {
    for (const { path } of this.listTouchedByTool(toolName, input).filter(
      (each) => each.access === "write" && MANIFEST.test(each.path),
    )) {
      const before = readText(path) ?? "";
      const after = toChangedText(toolName, input, before);
      const known = listDependencies(path, before) ?? new Set();
      const found = [...(listDependencies(path, after) ?? [])].find((name) => !known.has(name));
      if (found !== undefined && before !== "") return found;
    }
    return undefined;
  }

  private findScript(name: string, directory: string): string | undefined {
    const path = join(isAbsolute(directory) ? directory : join(this.scope.cwd, directory), "package.json");
    try {
      const { scripts } = JSON.parse(readText(path) ?? "{}");
      const text: unknown = scripts?.[name];
      return typeof text === "string" ? text : undefined;
    } catch {
      return undefined; // Damaged: then it defines no check.
    }
  }

  private async openPlace(): Promise<CommandPlace> {
    const { cwd, root, environment } = this.scope;
    return {
      ...{ cwd, root, realPath, readFile: readText },
      home: homeDirectory(environment),
      readSyntax: await loadSyntax(),
      variable: (name) => environment[name],
      branchOf: (directory) => readBranch(directory, readText),
    };
  }
}

/** How a rule is quoted to the model. */
export function quoteRule({ text, source, line }: PlacedRule): string {
  return `“${text}” (${line === 0 ? source : `${source}:${line}`}).`;
}

function describeRun({ run }: CheckGuard): string {
  if (typeof run !== "string") return `\`${run.join(" ")}\``;
  return {
    tests: "A run of the tests",
    types: "A type check",
    lint: "A run of the linter",
    build: "A build",
  }[run];
}

function toChangedText(toolName: string, input: Record<string, unknown>, before: string): string {
  if (toolName === "write") return typeof input.content === "string" ? input.content : before;
  if (toolName === "apply_patch") {
    const patch = typeof input.patch === "string" ? input.patch : "";
    const lines = [...patch.matchAll(/^([+-])(.*)$/gm)];
    const added = lines.flatMap(([, sign, line]) => (sign === "+" && line !== undefined ? [line] : []));
    const removed = new Set(
      lines.flatMap(([, sign, line]) => (sign === "-" && line !== undefined ? [line] : [])),
    );
    const context = new Set([...patch.matchAll(/^ (.*)$/gm)].map(([, line]) => line));
    // The lines after which something is added are those of the patch.
    const kept = before.split("\n").filter((line) => !removed.has(line));
    const at = kept.findLastIndex((line) => context.has(line) && !/^[\s}\]]*$/.test(line));
    return [...kept.slice(0, at + 1), ...added, ...kept.slice(at + 1)].join("\n");
  }
  const edits: unknown[] = Array.isArray(input.edits) ? input.edits : [input];
  return edits.reduce((text: string, edit) => {
    if (typeof edit !== "object" || edit === null) return text;
    const { old_string: old, new_string: next, replace_all: isEach }: Record<string, unknown> = { ...edit };
    if (typeof old !== "string" || typeof next !== "string") return text;
    return isEach === true ? text.replaceAll(old, () => next) : text.replace(old, () => next);
  }, before);
}

function readText(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
    const text = readFileSync(path, "utf8");
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined; // Missing or not readable: then it is no script either.
  }
}

/** Also of a path whose last parts do not exist. */
function realPath(path: string): string {
  for (let existing = path, rest = ""; ; ) {
    try {
      return join(realpathSync(existing), rest);
    } catch {
      if (existing === dirname(existing)) return path;
      rest = join(existing.slice(dirname(existing).length).replace(/^\//, ""), rest);
      existing = dirname(existing);
    }
  }
}

let syntax: Promise<ReadSyntax> | undefined;

function loadSyntax(): Promise<ReadSyntax> {
  syntax ??= loadBashSyntax();
  syntax.catch(() => {
    syntax = undefined;
  });
  return syntax;
}
