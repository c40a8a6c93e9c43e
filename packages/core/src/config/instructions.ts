import { join } from "node:path";
import { type CheckedFile, readCheckedFile } from "../infrastructure/fs/read.ts";
import { findDirectoriesUpwards, isInside } from "../infrastructure/fs/real-path.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/runtime.ts";
import { decodeUtf8 } from "../infrastructure/text/text-file.ts";
import { removeInvisible, revealInvisible } from "../infrastructure/text/unicode.ts";
import type { ConfigWarning } from "./errors.ts";
import KNOWLEDGE_INSTRUCTION from "./knowledge-instruction.md" with { type: "text" };

const INSTRUCTION_FILES = ["CLAUDE.md", "AGENTS.md"] as const;

/** A file that tells the model how to work in a project, or for a user. */
export interface DiscoveredInstruction {
  path: string;
  /** Its text, at most 32 KiB, without invisible characters. */
  content: string;
}

/** Where to search for instructions. */
export interface DiscoverOptions {
  environment?: Environment | undefined;
  /** Receives warnings about files that were not loaded, or not completely. */
  onWarning?: ((warning: ConfigWarning) => void) | undefined;
}

interface Candidate {
  path: string;
  boundary: string | undefined;
}

/**
 * Finds CLAUDE.md and AGENTS.md from the working directory up to the repository's root (without one, up to the home
 * directory; never above it), then the user's own. The most specific come first. A file is left out if it leads out
 * of the repository, if another user could have written it, or if it repeats an earlier one.
 */
export async function discoverInstructions(
  cwd: string,
  { environment = processEnvironment(), onWarning }: DiscoverOptions = {},
): Promise<DiscoveredInstruction[]> {
  const found: DiscoveredInstruction[] = [];
  const seen = new Set<string>();
  for (const { path, boundary } of listCandidates(cwd, environment)) {
    const { file, warnings } = await readInstructionFile(path, boundary);
    if (file !== undefined && isRepeated(seen, file)) continue;
    for (const warning of warnings) onWarning?.(warning);
    if (file !== undefined) found.push({ path, content: file.content });
  }
  return found;
}

/**
 * The system prompt followed by the instructions, general before specific, and then additional ones, so that the most
 * specific come last.
 */
export function buildSystemPrompt(
  basePrompt: string,
  instructions: readonly DiscoveredInstruction[],
  additionalInstructions: readonly string[] = [],
): string {
  const found = instructions
    .toReversed()
    .map(({ path, content }) => `Instructions from: ${revealInvisible(path)}\n${content.trimEnd()}`);
  return [basePrompt, ...found, ...additionalInstructions.map((text) => text.trim())].join("\n\n");
}

/**
 * `buildSystemPrompt` with the knowledge of earlier sessions before the instructions, which take precedence, and with
 * the request to record knowledge at the end.
 * @param knowledgeSection from `buildKnowledgeSection`; empty if there is none.
 */
export function buildSystemPromptWithKnowledge(
  basePrompt: string,
  instructions: readonly DiscoveredInstruction[],
  knowledgeSection: string,
  additionalInstructions: readonly string[] = [],
): string {
  const told = joinKnowledge(basePrompt, knowledgeSection);
  return buildSystemPrompt(told, instructions, [...additionalInstructions, KNOWLEDGE_INSTRUCTION]);
}

/** The base prompt followed by the knowledge section, if there is one. */
export function joinKnowledge(basePrompt: string, knowledgeSection: string): string {
  const section = knowledgeSection.trim();
  return section === "" ? basePrompt : `${basePrompt}\n\n${section}`;
}

function listCandidates(cwd: string, environment: Environment): Candidate[] {
  const { directories, repository } = findDirectoriesUpwards(cwd, homeDirectory(environment));
  const project = directories.flatMap((directory) => inDirectory(directory, repository ?? directory));
  const user = userConfigDirectory(environment);
  return user === undefined ? project : [...project, ...inDirectory(user, undefined)];
}

function inDirectory(directory: string, boundary: string | undefined): Candidate[] {
  return INSTRUCTION_FILES.map((name) => ({ path: join(directory, name), boundary }));
}

/** True for a file or text that was seen before; adds it otherwise. Line endings and outer white space are ignored. */
function isRepeated(
  seen: Set<string>,
  { realPath, content }: { realPath: string; content: string },
): boolean {
  const marks = [`path ${realPath}`, `text ${content.replaceAll("\r\n", "\n").trim()}`];
  if (marks.some((mark) => seen.has(mark))) return true;
  for (const mark of marks) seen.add(mark);
  return false;
}

/** 32 KiB, about 8k tokens: the same limit as in codex-rs. */
const MAX_INSTRUCTION_BYTES = 32_768;

const CUT_MARK = "\n...(truncated)";

/** An instruction file for the prompt; paths are absolute, `realPath` is resolved. */
interface InstructionFile {
  path: string;
  realPath: string;
  /** Without invisible characters; truncated at `MAX_INSTRUCTION_BYTES`, with a note. */
  content: string;
}

/** An unusable file is a warning, never an exception. */
interface InstructionReading {
  /** Undefined if the file is missing, empty or must not be used. */
  file?: InstructionFile;
  warnings: ConfigWarning[];
}

/**
 * Reads one instruction file. `boundary` is the directory that must contain the resolved file; none for the user's own.
 */
async function readInstructionFile(path: string, boundary: string | undefined): Promise<InstructionReading> {
  const reading = await readCheckedFile(path, MAX_INSTRUCTION_BYTES + 1);
  if (reading.kind === "missing") return { warnings: [] };
  try {
    if (reading.kind === "unreadable") throw new Error(reading.reason);
    const { file } = reading;
    if (boundary !== undefined && !isInside(file.realPath, boundary)) {
      throw new Error(`it is a link to ${file.realPath}, outside ${boundary}`);
    }
    if (file.concern !== undefined) throw new Error(file.concern);
    return toInstruction(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { warnings: [warn("instructions_not_loaded", path, `is not loaded: ${reason}`)] };
  }
}

function toInstruction({ path, realPath, content, size }: CheckedFile): InstructionReading {
  const isCut = size > MAX_INSTRUCTION_BYTES;
  const { text } = decodeUtf8(
    isCut ? content.subarray(0, characterEnd(content, MAX_INSTRUCTION_BYTES)) : content,
  );
  const visible = removeInvisible(text);
  const warnings: ConfigWarning[] = [];
  if (visible.removed > 0) {
    const message = `contains ${visible.removed} invisible characters, which are not sent to the model`;
    warnings.push(warn("invisible_characters", path, message));
  }
  if (isCut) {
    const message = `has ${size} bytes; only the first ${MAX_INSTRUCTION_BYTES} are sent to the model`;
    warnings.push(warn("instructions_truncated", path, message));
  }
  if (visible.text.trim() === "") return { warnings };
  return { file: { path, realPath, content: isCut ? visible.text + CUT_MARK : visible.text }, warnings };
}

/** The largest end at or before `limit` that does not split a character. */
function characterEnd(bytes: Uint8Array, limit: number): number {
  let end = limit;
  // In UTF-8 every byte of a character except the first begins with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function warn(code: string, path: string, message: string): ConfigWarning {
  return { code, message: `${revealInvisible(path)} ${message}` };
}
