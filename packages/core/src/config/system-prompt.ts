import { revealInvisible } from "../infrastructure/content/invisible-text.ts";
import {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  joinKnowledge,
} from "./instructions.ts";
import basePrompt from "./system-prompt.md" with { type: "text" };

/** What every session's system prompt begins with. */
export const BASE_SYSTEM_PROMPT: string = basePrompt;

/** What a session knows about the place it runs in; collected once, so that the prompt stays the same word for word. */
export interface EnvironmentFacts {
  cwd: string;
  projectRoot: string;
  /** As Node names it, such as `linux`. */
  platform: string;
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** The branch that is checked out, where there is one. */
  gitBranch?: string | undefined;
}

/** What a system prompt is made of; what is left out has no section. */
export interface SystemPromptParts {
  base?: string | undefined;
  facts: EnvironmentFacts;
  /** What is to be known of how commands run: a section of its own. */
  sandbox?: string | undefined;
  /** As `discoverInstructions` lists them: the most particular first. */
  instructions?: readonly DiscoveredInstruction[] | undefined;
  /** Further instructions, in order; each stands alone. */
  additional?: readonly string[] | undefined;
  /** Left out: neither is anything told of earlier sessions nor is the model asked to record something. */
  knowledge?: PromptKnowledge | undefined;
}

/** What the system prompt tells of earlier sessions. */
export interface PromptKnowledge {
  /** As `buildKnowledgeSection` makes it; empty where there is nothing to tell. */
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
}: SystemPromptParts): string {
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
