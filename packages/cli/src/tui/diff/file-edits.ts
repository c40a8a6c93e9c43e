import { resolve } from "node:path";
import type { Message } from "@diligent/core/run";
import { showPath } from "../text/show-path.ts";
import { toTranscriptBlocks } from "../transcript-blocks.ts";

/** A part of what a session did to a file. */
export interface EditStep {
  before: string;
  after: string;
  /** Where `before` began in the file at that time, 1-based. */
  firstLine: number;
}

/** All that a conversation did to one file, in order. */
export interface FileEdits {
  /** From the working directory, where it is below. */
  path: string;
  steps: readonly EditStep[];
  /** What was in the file before it was overwritten is in no message. */
  isBeginningUnknown: boolean;
}

/**
 * What the calls of `edit` and `write` that succeeded did to files, in the order in which each was first touched. From the
 * first `write` on the content of a file is known, and what follows is told as one change; an `edit` before that stands
 * for itself.
 */
export function collectEdits(messages: readonly Message[], cwd: string): FileEdits[] {
  const files = new Map<string, EditedFile>();
  for (const { toolName, input, metadata } of listSucceeded(messages)) {
    const path = textOf(input, "file_path");
    if (path === undefined) continue;
    const absolute = resolve(cwd, path);
    const file = files.get(absolute) ?? new EditedFile();
    files.set(absolute, file);
    if (toolName === "write") file.write(textOf(input, "content") ?? "", metadata);
    else file.edit(input, metadata);
  }
  return [...files].flatMap(([absolute, file]) => {
    const edits = { path: showPath(absolute, cwd), ...file.finish() };
    return edits.steps.length === 0 ? [] : [edits];
  });
}

interface SucceededCall {
  toolName: string;
  input: unknown;
  metadata: Metadata;
}

type Metadata = Readonly<Record<string, unknown>>;

function listSucceeded(messages: readonly Message[]): SucceededCall[] {
  return toTranscriptBlocks(messages).flatMap((block) => {
    if (block.type !== "tool") return [];
    const { toolName, input, result } = block.call;
    if (result?.isError !== false || (toolName !== "edit" && toolName !== "write")) return [];
    return [{ toolName, input, metadata: result.metadata }];
  });
}

class EditedFile {
  private readonly steps: EditStep[] = [];
  private isBeginningUnknown = false;
  /** The content, where it is known, and what it was when it became so. */
  private known: { from: string; to: string } | undefined;

  write(content: string, { created, unchanged }: Metadata): void {
    if (unchanged) return;
    const to = toLineFeeds(content);
    if (created) {
      this.settle();
      this.known = { from: "", to };
    } else if (this.known) {
      this.known.to = to;
    } else {
      this.isBeginningUnknown = true;
      this.known = { from: "", to };
    }
  }

  edit(input: unknown, { matchLine }: Metadata): void {
    const before = toLineFeeds(textOf(input, "old_string") ?? "");
    const after = toLineFeeds(textOf(input, "new_string") ?? "");
    const isEverywhere = argumentOf(input, "replace_all") === true;
    const edited = this.known && replace(this.known.to, { before, after, isEverywhere });
    if (this.known && edited !== undefined) {
      this.known.to = edited;
      return;
    }
    // Somebody else has changed the file meanwhile.
    this.settle();
    this.steps.push({ before, after, firstLine: typeof matchLine === "number" ? matchLine : 1 });
  }

  finish(): Pick<FileEdits, "steps" | "isBeginningUnknown"> {
    this.settle();
    return { steps: this.steps, isBeginningUnknown: this.isBeginningUnknown };
  }

  private settle(): void {
    const { known } = this;
    if (known && known.from !== known.to)
      this.steps.push({ before: known.from, after: known.to, firstLine: 1 });
    this.known = undefined;
  }
}

interface Replacement {
  before: string;
  after: string;
  isEverywhere: boolean;
}

/** Undefined where it cannot be told what was replaced. */
function replace(text: string, { before, after, isEverywhere }: Replacement): string | undefined {
  const at = before === "" ? -1 : text.indexOf(before);
  if (at < 0) return undefined;
  if (isEverywhere) return text.replaceAll(before, () => after);
  if (text.indexOf(before, at + 1) >= 0) return undefined;
  return text.slice(0, at) + after + text.slice(at + before.length);
}

function textOf(input: unknown, name: string): string | undefined {
  const value = argumentOf(input, name);
  return typeof value === "string" ? value : undefined;
}

function argumentOf(input: unknown, name: string): unknown {
  if (typeof input !== "object" || input === null) return undefined;
  return new Map<string, unknown>(Object.entries(input)).get(name);
}

function toLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
