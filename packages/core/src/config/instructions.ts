import { join } from "node:path";
import { revealInvisible } from "../infrastructure/content/invisible-text.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/environment.ts";
import { findDirectoriesUpwards } from "../infrastructure/places/directories-upwards.ts";
import { userConfigDirectory } from "../infrastructure/places/user-directories.ts";
import type { ConfigWarning } from "./config-error.ts";
import { readInstructionFile } from "./instruction-file.ts";
import KNOWLEDGE_INSTRUCTION from "./knowledge-instruction.md" with { type: "text" };

const INSTRUCTION_FILES = ["CLAUDE.md", "AGENTS.md"] as const;

/** A file that tells the model how to work in a project, or for a user. */
export interface DiscoveredInstruction {
  path: string;
  /** Its text, at most 32 KiB of it, without characters that cannot be seen. */
  content: string;
}

/** How instructions are looked for. */
export interface DiscoverOptions {
  environment?: Environment | undefined;
  /** Told of files that were not loaded, or not wholly. */
  onWarning?: ((warning: ConfigWarning) => void) | undefined;
}

interface Candidate {
  path: string;
  boundary: string | undefined;
}

/**
 * Finds CLAUDE.md and AGENTS.md from the working directory up to the repository's root (without one, up to the home
 * directory; never above it), then the user's own. The most particular come first. A file is left out that leads out
 * of the repository, that somebody else could have written, or that says the same as one before it.
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
 * The system prompt with the instructions that were found, general before particular, and further ones after them, so
 * that what is said last is what is meant for this place.
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
 * The same with what was learned in earlier sessions, before the instructions that stand above it, and at the end the
 * request to record what is learned in this one.
 * @param knowledgeSection as `buildKnowledgeSection` makes it; empty where there is nothing to tell.
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

/** The base prompt with the section of knowledge behind it, where there is any. */
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

/** True for a file, or a text, that was there before; adds it otherwise. Line ends and outer blanks make no difference. */
function isRepeated(
  seen: Set<string>,
  { realPath, content }: { realPath: string; content: string },
): boolean {
  const marks = [`path ${realPath}`, `text ${content.replaceAll("\r\n", "\n").trim()}`];
  if (marks.some((mark) => seen.has(mark))) return true;
  for (const mark of marks) seen.add(mark);
  return false;
}
