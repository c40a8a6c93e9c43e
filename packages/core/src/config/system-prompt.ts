import { revealInvisible } from "../infrastructure/text/unicode.ts";
import {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  joinKnowledge,
} from "./instructions.ts";
import basePrompt from "./system-prompt.md" with { type: "text" };

/** The beginning of every session's system prompt. */
export const BASE_SYSTEM_PROMPT: string = basePrompt;

/** The facts about a session's environment; collected once, so that the prompt stays identical. */
export interface EnvironmentFacts {
  cwd: string;
  projectRoot: string;
  /** As Node names it, such as `linux`. */
  platform: string;
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** The branch that is checked out, if there is one. */
  gitBranch?: string | undefined;
}

/** The parts of a system prompt; a part that is left out has no section. */
export interface SystemPromptSections {
  base?: string | undefined;
  facts: EnvironmentFacts;
  /** How commands run: a section of its own. */
  sandbox?: string | undefined;
  /** As `discoverInstructions` lists them: the most particular first. */
  instructions?: readonly DiscoveredInstruction[] | undefined;
  /** Further instructions, in order; each stands alone. */
  additional?: readonly string[] | undefined;
  /** When left out, there is no knowledge section and no request to record knowledge. */
  knowledge?: PromptKnowledge | undefined;
}

/** The parts of the system prompt about earlier sessions. */
export interface PromptKnowledge {
  /** As `buildKnowledgeSection` makes it; empty if there is none. */
  section: string;
  /** True: the model has the tool to record more, and is told when to use it. */
  isRecorded: boolean;
}

/** The system prompt of a session, in the order general to particular. */
export function composeSystemPrompt({
  base = BASE_SYSTEM_PROMPT,
  facts,
  sandbox,
  instructions = [],
  additional = [],
  knowledge,
}: SystemPromptSections): string {
  const sections = [base.trim(), formatEnvironmentFacts(facts), ...(sandbox === undefined ? [] : [sandbox])];
  const withFacts = sections.join("\n\n");
  if (knowledge?.isRecorded) {
    return buildSystemPromptWithKnowledge(withFacts, instructions, knowledge.section, additional);
  }
  return buildSystemPrompt(joinKnowledge(withFacts, knowledge?.section ?? ""), instructions, additional);
}

function formatEnvironmentFacts({ cwd, projectRoot, platform, date, gitBranch }: EnvironmentFacts): string {
  const lines = [`Working directory: ${revealInvisible(cwd)}`];
  if (projectRoot !== cwd) lines.push(`Project root: ${revealInvisible(projectRoot)}`);
  lines.push(`Platform: ${platform}`, `Date: ${date} (UTC)`);
  if (gitBranch !== undefined) lines.push(`Git branch: ${gitBranch}`);
  return `# Environment\n${lines.join("\n")}`;
}

/** The number of characters of each part of a system prompt; together they are all of it. */
export interface PromptShares {
  /** The base prompt and the facts about the environment. */
  base: number;
  /** Those of files, of the configuration and of the command line. */
  instructions: number;
  /** The knowledge of earlier sessions, with the request to record more. */
  knowledge: number;
}

/** @param parts those that `composeSystemPrompt` made the prompt of. */
export function measureSystemPrompt(parts: SystemPromptSections): PromptShares {
  const withoutInstructions = { ...parts, instructions: [], additional: [] };
  const all = composeSystemPrompt(parts).length;
  const uninstructed = composeSystemPrompt(withoutInstructions).length;
  const base = composeSystemPrompt({ ...withoutInstructions, knowledge: undefined }).length;
  return { base, instructions: all - uninstructed, knowledge: uninstructed - base };
}
