import { revealInvisible } from "../infrastructure/text/unicode.ts";
import {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  joinKnowledge,
} from "./instructions.ts";
import basePrompt from "./system-prompt.md" with { type: "text" };

/** What the model can do with its tools. */
export interface ToolAbilities {
  /** It has the tools that read and search files. */
  canRead: boolean;
  /** It has tools that change files. */
  canWrite: boolean;
  /** True if `apply_patch` changes files in place of `edit` and `write`. */
  usesPatches: boolean;
  /** It has the tool that runs commands. */
  canRun: boolean;
}

/**
 * The beginning of a session's system prompt; it names no tool that the session does not have. In the text, `{{run}}`
 * begins a line that needs this ability, `{{!run}}` one that needs its absence; `act` means writing or running.
 */
export function composeBasePrompt({ canRead, canWrite, usesPatches, canRun }: ToolAbilities): string {
  const abilities: Readonly<Record<string, boolean>> = {
    read: canRead,
    write: canWrite,
    edit: canWrite && !usesPatches,
    patch: canWrite && usesPatches,
    run: canRun,
    act: canWrite || canRun,
  };
  const lines = basePrompt.split("\n").flatMap((line) => {
    if (!line.startsWith("{{")) return [line];
    const [marks = ""] = /^(?:\{\{!?\w+\}\})*/.exec(line) ?? [];
    const isMet = [...marks.matchAll(/\{\{(!?)(\w+)\}\}/g)].every(
      ([, not, name = ""]) => abilities[name] === (not === ""),
    );
    return isMet ? [line.slice(marks.length)] : [];
  });
  return lines.join("\n");
}

/** The beginning of the system prompt of a session with all tools. */
export const BASE_SYSTEM_PROMPT: string = composeBasePrompt({
  canRead: true,
  canWrite: true,
  usesPatches: false,
  canRun: true,
});

/** The facts about a session's environment; collected once, so that the prompt stays identical. */
export interface EnvironmentFacts {
  cwd: string;
  projectRoot: string;
  /** Node's name of the platform, such as `linux`. */
  platform: string;
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** The current branch, if there is one. */
  gitBranch?: string | undefined;
  /** The approval mode and what it allows, on one line. */
  mode?: string | undefined;
}

/** The parts of a system prompt; a part that is left out has no section. */
export interface SystemPromptSections {
  base?: string | undefined;
  facts: EnvironmentFacts;
  /** How commands run, as a separate section. */
  sandbox?: string | undefined;
  /** In the order of `discoverInstructions`: the most specific first. */
  instructions?: readonly DiscoveredInstruction[] | undefined;
  /** Additional instructions, in order, each in a separate section. */
  additional?: readonly string[] | undefined;
  /** When left out, there is no knowledge section and no request to record knowledge. */
  knowledge?: PromptKnowledge | undefined;
}

/** The parts of the system prompt about earlier sessions. */
export interface PromptKnowledge {
  /** From `buildKnowledgeSection`; empty if there is none. */
  section: string;
  /** True when the model has the tool to record knowledge; the prompt then says when to use it. */
  isRecorded: boolean;
}

/** The system prompt of a session, from general to specific. */
export function composeSystemPrompt({
  base = BASE_SYSTEM_PROMPT,
  facts,
  sandbox,
  instructions = [],
  additional = [],
  knowledge,
}: SystemPromptSections): string {
  const sections = [base.trim(), formatEnvironmentFacts(facts), ...(sandbox === undefined ? [] : [sandbox])];
  const promptWithFacts = sections.join("\n\n");
  if (knowledge?.isRecorded) {
    return buildSystemPromptWithKnowledge(promptWithFacts, instructions, knowledge.section, additional);
  }
  return buildSystemPrompt(
    joinKnowledge(promptWithFacts, knowledge?.section ?? ""),
    instructions,
    additional,
  );
}

function formatEnvironmentFacts({
  cwd,
  projectRoot,
  platform,
  date,
  gitBranch,
  mode,
}: EnvironmentFacts): string {
  const lines = [`Working directory: ${revealInvisible(cwd)}`];
  if (projectRoot !== cwd) lines.push(`Project root: ${revealInvisible(projectRoot)}`);
  lines.push(`Platform: ${platform}`, `Date: ${date} (UTC)`);
  if (gitBranch !== undefined) lines.push(`Git branch: ${gitBranch}`);
  if (mode !== undefined) lines.push(mode);
  return `# Environment\n${lines.join("\n")}`;
}

/** The number of characters of each part of a system prompt; they add up to its length. */
export interface PromptShares {
  /** The base prompt and the environment facts. */
  base: number;
  /** The instructions of files, of the configuration and of the command line. */
  instructions: number;
  /** The knowledge of earlier sessions, with the request to record more. */
  knowledge: number;
}

/** @param parts those passed to `composeSystemPrompt`. */
export function measureSystemPrompt(parts: SystemPromptSections): PromptShares {
  const withoutInstructions = { ...parts, instructions: [], additional: [] };
  const all = composeSystemPrompt(parts).length;
  const uninstructed = composeSystemPrompt(withoutInstructions).length;
  const base = composeSystemPrompt({ ...withoutInstructions, knowledge: undefined }).length;
  return { base, instructions: all - uninstructed, knowledge: uninstructed - base };
}
