import { join } from "node:path";
import { findDirectoriesUpwards, findRealPath } from "../infrastructure/fs/real-path.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/runtime.ts";
import { revealInvisible } from "../infrastructure/text/unicode.ts";
import type { ConfigWarning } from "./errors.ts";
import { readInstructionFile, SeenInstructions } from "./instruction-file.ts";
import type { ImportOptions, InstructionImports } from "./instruction-imports.ts";
import KNOWLEDGE_INSTRUCTION from "./knowledge-instruction.md" with { type: "text" };

/** The names of instruction files, in the order in which they are searched for. */
export const INSTRUCTION_FILES = ["CLAUDE.md", "AGENTS.md"] as const;

/** A file that tells the model how to work in a project, or for a user. */
export interface DiscoveredInstruction {
  path: string;
  /** Its text, at most 32 KiB, without invisible characters. */
  content: string;
  /** The file that imports it with `@path`; left out for a file that was found itself. */
  importedBy?: string;
}

/** Where to search for instructions. */
export interface DiscoverOptions {
  environment?: Environment | undefined;
  /** Receives warnings about files that were not loaded, or not completely. */
  onWarning?: ((warning: ConfigWarning) => void) | undefined;
}

interface Candidate {
  path: string;
  /** The directories that may contain the file itself; undefined for the user's own. */
  boundaries: readonly string[] | undefined;
  /** The directories that may contain its imports. */
  importBoundaries: readonly string[];
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
  const seen = new SeenInstructions();
  let imports: InstructionImports | undefined;
  for (const { path, boundaries, importBoundaries } of listCandidates(cwd, environment)) {
    const { file, warnings } = await readInstructionFile(path, boundaries);
    if (file !== undefined && seen.has(file)) continue;
    for (const warning of warnings) onWarning?.(warning);
    if (file === undefined) continue;
    seen.add(file);
    // In the prompt, which has the reverse order, a file precedes its imports.
    if (file.content.includes("@")) {
      imports ??= await openImports({ home: homeDirectory(environment), seen, onWarning });
      found.push(...(await imports.load(file, importBoundaries)).toReversed());
    }
    found.push({ path, content: file.content });
  }
  return found;
}

/** Most instruction files import nothing: the code for that is loaded on demand. */
export async function openImports(options: ImportOptions): Promise<InstructionImports> {
  return (await import("./instruction-imports.ts")).createInstructionImports(options);
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
    .map((instruction) => `${instructionHeading(instruction)}\n${instruction.content.trimEnd()}`);
  return [basePrompt, ...found, ...additionalInstructions.map((text) => text.trim())].join("\n\n");
}

/** The line above the text of an instruction file, for the model. */
export function instructionHeading({ path, importedBy }: Omit<DiscoveredInstruction, "content">): string {
  const by = importedBy === undefined ? "" : ` (imported by ${revealInvisible(importedBy)})`;
  return `Instructions from: ${revealInvisible(path)}${by}`;
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
  const project = directories.flatMap((directory) => {
    const boundaries = [repository ?? directory];
    return inDirectory(directory, { boundaries, importBoundaries: boundaries });
  });
  const user = userConfigDirectory(environment);
  if (user === undefined) return project;
  const home = homeDirectory(environment);
  const own = [home, user].flatMap((path) => (path === undefined ? [] : (findRealPath(path, "/") ?? [])));
  return [...project, ...inDirectory(user, { boundaries: undefined, importBoundaries: own })];
}

function inDirectory(directory: string, limits: Omit<Candidate, "path">): Candidate[] {
  return INSTRUCTION_FILES.map((name) => ({ path: join(directory, name), ...limits }));
}
