import { existsSync, statSync } from "node:fs";
import type { ConfigWarning } from "../config/errors.ts";
import { MAX_INSTRUCTION_CHARACTERS } from "../config/instruction-file.ts";
import { type DiscoveredInstruction, instructionHeading } from "../config/instructions.ts";
import type { NestedInstruction } from "../config/nested-instructions.ts";
import { findRealPath } from "../infrastructure/fs/real-path.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { revealInvisible } from "../infrastructure/text/unicode.ts";
import { contextMessages } from "../session/context-builder.ts";
import type { RunNote } from "../session/manager.ts";
import { findCall } from "../session/pruned-results.ts";
import { recalledText } from "../session/recall.ts";
import type { SessionEntry } from "../session/types.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import type { ToolCallBlock } from "../types.ts";

/** What the instructions of a session depend on. */
interface SessionInstructionDeps {
  cwd: string;
  environment: Environment;
  /** The model's window, in tokens. */
  contextWindow: number;
  /** The entries of the conversation, from its beginning; empty before it is open. */
  path(): readonly SessionEntry[];
  /** The absolute path that a tool's argument names. @throws Error for an invalid one. */
  resolvePath(given: string): string;
  /** The system prompt of the next request; undefined before the conversation is open. */
  systemPrompt(): string | undefined;
  /** Reports an instruction file that cannot be used, or only in part, to the user. */
  warn(warning: ConfigWarning): void;
}

/** A file whose content the model knows. */
interface LoadedFile {
  content: string;
  realPath: string;
  signature: string;
}

/** A file that the model knows with another content. */
const OUTDATED: Omit<LoadedFile, "realPath"> = { content: "", signature: "outdated" };

/** A result with instructions. */
interface MarkedResult {
  text: string;
  marks: readonly string[];
  /** Its call, if that is known. */
  call: Pick<ToolCallBlock, "name" | "input"> | undefined;
}

/** The tools that read, search or change files. */
const FILE_TOOLS: ReadonlySet<string> = new Set([
  ...["read", "edit", "write", "ls", "glob", "grep"],
  ...["apply_patch", "bash"],
]);

// In a small window, a tenth of it, at four characters per token.
const CHARACTERS_PER_WINDOW_TOKEN = 0.4;
// Each mark has eight characters, and a fact of a result at most 300.
const MAX_FILES = 24;

/**
 * The instruction files that a session's model knows. Those below the working directory are added to the result of the
 * first call that names a file below them, so that the prefix of requests stays the same; once that result is summarized
 * or shortened, they are added again. Changes of loaded files are noted at the next prompt.
 */
export class SessionInstructions {
  private readonly loaded = new Map<string, LoadedFile>();
  private inPrompt: readonly DiscoveredInstruction[] = [];
  /** Added to results of the current reply's calls, which the session may not have recorded yet. */
  private readonly pending = new Set<string>();
  private pendingFor: SessionEntry | undefined;
  private isRestored = false;
  /** Those of every prompt so far, the newest last: undoing a compaction brings an earlier prompt back. */
  private readonly everInPrompt: DiscoveredInstruction[] = [];
  /** The prompt that the loaded files were compared with. */
  private knownPrompt: string | undefined;
  /** The messages of warnings that were reported. */
  private readonly warned = new Set<string>();

  constructor(private readonly deps: SessionInstructionDeps) {}

  /** Call it with the instructions of each new system prompt. */
  usePrompt(instructions: readonly DiscoveredInstruction[]): void {
    this.inPrompt = instructions;
    this.knownPrompt = undefined;
    this.everInPrompt.push(...instructions);
    for (const instruction of instructions) this.remember(instruction);
  }

  /** Makes the tools that work with files add instructions to their results. */
  attach(tools: Tool[]): Tool[] {
    for (const tool of tools) {
      if (!FILE_TOOLS.has(tool.name)) continue;
      const { execute } = tool;
      tool.execute = async (args, context) =>
        this.extend(await execute.call(tool, args, context), { name: tool.name, input: args });
    }
    return tools;
  }

  /** The note about files that have changed since they were loaded; undefined, at once, if none has. */
  noteChanges(): Promise<RunNote | undefined> | undefined {
    if (!this.isRestored) {
      this.isRestored = true;
      const results = this.listMarkedResults();
      if (results.length > 0) return this.restore(results).then(() => this.noteChanges());
    }
    this.comparePrompt();
    const changed = [...this.loaded].filter(([path, { signature }]) => signatureOf(path) !== signature);
    return changed.length === 0 ? undefined : this.describeChanges(changed.map(([path]) => path));
  }

  /** After a compaction was undone: finds out which instructions differ from those of the restored prompt. */
  private comparePrompt(): void {
    const prompt = this.deps.systemPrompt();
    if (prompt === undefined || prompt === this.knownPrompt) return;
    this.knownPrompt = prompt;
    const texts = contextMessages(this.deps.path()).map(({ message }) => recalledText(message));
    for (const path of new Set(this.everInPrompt.map((instruction) => instruction.path))) {
      const told = this.everInPrompt.findLast(
        (each) => each.path === path && prompt.includes(toShownText(each)),
      );
      const newest = this.inPrompt.findLast((each) => each.path === path);
      if (told?.content === newest?.content) continue;
      const later = texts.findLast(
        (text) => text.includes(instructionHeading({ path })) || text.includes(describeRemoval(path)),
      );
      const isTold = newest ? later?.includes(toShownText(newest)) : later?.includes(describeRemoval(path));
      if (!isTold)
        this.loaded.set(path, { ...OUTDATED, content: told?.content ?? "", realPath: realPathOf(path) });
    }
  }

  /** Finds out which files below the working directory an earlier process has added to results of this session. */
  private async restore(results: readonly MarkedResult[]): Promise<void> {
    const texts = contextMessages(this.deps.path()).map(({ message }) => recalledText(message));
    for (const { text, marks, call } of results) {
      const found = await this.findNested(call);
      for (const instruction of found) {
        const { path, content, mark } = instruction;
        const heading = instructionHeading({ path });
        const last = texts.findLast((each) => each.includes(heading));
        if (last === undefined) continue;
        const isTold = [{ path, content }, instruction].some((each) => last.includes(toShownText(each)));
        if (isTold || (last === text && marks.includes(mark))) this.remember(instruction);
        else this.loaded.set(path, { ...OUTDATED, realPath: realPathOf(path) });
      }
      for (const path of listNamedFiles(text)) {
        if (found.some((instruction) => instruction.path === path) || signatureOf(path) !== "") continue;
        if (!texts.some((each) => each.includes(describeRemoval(path))))
          this.loaded.set(path, { ...OUTDATED, realPath: path });
      }
    }
  }

  /** The instructions for what a call names, general before specific, each once. */
  private async findNested(
    call: MarkedResult["call"],
    onWarning?: (warning: ConfigWarning) => void,
  ): Promise<NestedInstruction[]> {
    const { cwd, environment } = this.deps;
    const paths = call ? await this.listPaths(call) : [];
    if (paths.length === 0) return [];
    const { findNestedInstructions } = await import("../config/nested-instructions.ts");
    const found = new Map<string, NestedInstruction>();
    for (const path of paths) {
      const options = { cwd, environment, inPrompt: this.inPrompt, onWarning };
      for (const instruction of await findNestedInstructions(path, options))
        if (!found.has(instruction.path)) found.set(instruction.path, instruction);
    }
    return [...found.values()];
  }

  /** The absolute paths that a call names. */
  private async listPaths({ name, input }: NonNullable<MarkedResult["call"]>): Promise<string[]> {
    const { cwd, resolvePath } = this.deps;
    if (name === "bash") {
      if (typeof input.command !== "string") return [];
      const { findCommandPaths } = await import("../tools/shell/printed-files.ts");
      return findCommandPaths({ cwd }, input.command).filter((path) => existsSync(path));
    }
    if (name === "apply_patch") {
      const headers = typeof input.patch === "string" ? input.patch.matchAll(PATCHED_FILE) : [];
      return [...headers].map(([, path = ""]) => resolvePath(path.trim()));
    }
    const given = input.file_path ?? input.path;
    return typeof given === "string" && given !== "" ? [resolvePath(given)] : [];
  }

  private async extend(result: ToolResult, call: NonNullable<MarkedResult["call"]>): Promise<ToolResult> {
    // A command that reports an error may also have worked with its files.
    if (result.isError && call.name !== "bash") return result;
    const warnings: ConfigWarning[] = [];
    const found = await this.findNested(call, (warning) => {
      if (this.warned.has(warning.message)) return;
      this.warned.add(warning.message);
      warnings.push(warning);
      this.deps.warn(warning);
    });
    if (found.length === 0) return result;
    const told = this.findTold();
    const added = found.filter(({ mark }) => !told.has(mark)).slice(0, MAX_FILES);
    if (added.length === 0) return result;
    for (const instruction of added) {
      this.pending.add(instruction.mark);
      this.remember(instruction);
    }
    const texts = [
      NESTED_TITLE,
      ...fitInstructions(added, this.maxCharacters),
      ...warnings.map(({ message }) => `(${message})`),
    ];
    return {
      ...result,
      note: `${result.note ?? ""}\n${texts.join("\n\n")}`,
      metadata: { ...result.metadata, instructions: added.map(({ mark }) => mark).join(" ") },
    };
  }

  /** The marks of the instructions in results that the context shows whole, and in those of the current reply. */
  private findTold(): ReadonlySet<string> {
    const path = this.deps.path();
    const reply = path.findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
    if (reply !== this.pendingFor) this.pending.clear();
    this.pendingFor = reply;
    const told = new Set(this.pending);
    for (const { marks } of this.listMarkedResults()) for (const mark of marks) told.add(mark);
    return told;
  }

  /** The results in the context that are shown whole and contain instructions. */
  private listMarkedResults(): MarkedResult[] {
    const context = contextMessages(this.deps.path());
    const entries = context.map(({ entry }) => entry);
    return context.flatMap(({ entry, message }, index) => {
      if (entry.type !== "message" || entry.message !== message || message.role !== "tool_result") return [];
      const marks = message.metadata?.instructions;
      if (typeof marks !== "string") return [];
      return [{ text: recalledText(message), marks: marks.split(" "), call: findCall(entries, index) }];
    });
  }

  private remember({ path, content }: DiscoveredInstruction): void {
    this.loaded.set(path, { content, realPath: realPathOf(path), signature: signatureOf(path) });
  }

  private async describeChanges(paths: readonly string[]): Promise<RunNote | undefined> {
    const { readInstructionFile } = await import("../config/instruction-file.ts");
    const changed: DiscoveredInstruction[] = [];
    const removed: string[] = [];
    for (const path of paths) {
      const before = this.loaded.get(path);
      const signature = signatureOf(path);
      // Its location was checked when it was loaded, and must be the same.
      const { file } = await readInstructionFile(path, before && [before.realPath]);
      if (file && file.content !== before?.content) changed.push({ path, content: file.content });
      if (!file) removed.push(path);
      if (file) this.loaded.set(path, { content: file.content, realPath: file.realPath, signature });
      else this.loaded.delete(path);
    }
    const names = [...changed.map(({ path }) => path), ...removed].map(revealInvisible);
    if (names.length === 0) return undefined;
    const texts = [
      "[Instruction files have changed since they were loaded; this replaces what you know of them.]",
      ...fitInstructions(changed, this.maxCharacters),
      ...removed.map(describeRemoval),
    ];
    const have = names.length === 1 ? "has" : "have";
    return {
      text: texts.join("\n\n"),
      notice: `${names.join(", ")} ${have} changed; the model is notified.`,
    };
  }

  private get maxCharacters(): number {
    return Math.min(
      MAX_INSTRUCTION_CHARACTERS,
      Math.floor(this.deps.contextWindow * CHARACTERS_PER_WINDOW_TOKEN),
    );
  }
}

const NESTED_TITLE = "[The following instructions apply to files below the directories that contain them.]";

/** The absolute paths of the files that a result contains below the title. */
function listNamedFiles(text: string): string[] {
  const added = text.slice(text.lastIndexOf(NESTED_TITLE));
  return [...added.matchAll(/^Instructions from: (\/.*?)(?: \(imported by .*\))?$/gm)].map(
    ([, path = ""]) => path,
  );
}

function describeRemoval(path: string): string {
  return `${revealInvisible(path)} is gone or unusable; its instructions no longer apply.`;
}

const PATCHED_FILE = /^\*\*\* (?:(?:Add|Delete|Update) File|Move to): (.+)$/gm;

/** As in the system prompt and in results. */
function toShownText(instruction: DiscoveredInstruction): string {
  return `${instructionHeading(instruction)}\n${instruction.content.trimEnd()}`;
}

function realPathOf(path: string): string {
  return findRealPath(path, "/") ?? path;
}

/** Each file below its heading; one that does not fit is only named. */
function fitInstructions(instructions: readonly DiscoveredInstruction[], maxCharacters: number): string[] {
  let left = maxCharacters;
  return instructions.map((instruction) => {
    const { path, content } = instruction;
    if (content.length > left)
      return `Instructions from: ${revealInvisible(path)} are too long to be shown here. Read the file before you work below its directory.`;
    left -= content.length;
    return toShownText(instruction);
  });
}

/** Changes whenever the file is written or replaced; empty for a missing file. */
function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch {
    // Missing or not accessible.
    return "";
  }
}
