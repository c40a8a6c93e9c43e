import { revealInvisible } from "../infrastructure/content/invisible-text.ts";
import {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  joinKnowledge,
} from "./instructions.ts";
import BASE_SYSTEM_PROMPT from "./system-prompt.md" with { type: "text" };

export { BASE_SYSTEM_PROMPT };

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

export interface SystemPromptParts {
  base?: string | undefined;
  facts: EnvironmentFacts;
  /** As `discoverInstructions` lists them: the most particular first. */
  instructions?: readonly DiscoveredInstruction[] | undefined;
  /** Further instructions, in order; each stands alone. */
  additional?: readonly string[] | undefined;
  /** Left out: neither is anything told of earlier sessions nor is the model asked to record something. */
  knowledge?: PromptKnowledge | undefined;
}

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
  instructions = [],
  additional = [],
  knowledge,
}: SystemPromptParts): string {
  const withFacts = `${base.trim()}\n\n${formatEnvironmentFacts(facts)}`;
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
