import type { AgentDefinition } from "./definition.ts";
import EXPLORE from "./explore.md" with { type: "text" };
import GENERAL from "./general.md" with { type: "text" };
import REVIEWER_PROMPT from "./reviewer.md" with { type: "text" };

/** The sub-agent for tasks that name none. */
export const DEFAULT_AGENT = "general";

/** Reviews changes; also the base of `diligent review`. */
export const REVIEWER: AgentDefinition = {
  name: "reviewer",
  description: "Reviews changes and reports verified problems. Changes nothing.",
  prompt: REVIEWER_PROMPT,
  source: "built-in",
  tools: { allowed: ["read", "ls", "glob", "grep", "bash"] },
  rules: [{ permission: "write", pattern: "**", action: "deny" }],
};

/** The sub-agents of every session. */
export const BUILT_IN_AGENTS: readonly AgentDefinition[] = [
  {
    name: "explore",
    description: "Finds out how and where the code does something. Reads only.",
    prompt: EXPLORE,
    source: "built-in",
    tools: { allowed: ["read", "ls", "glob", "grep"] },
    isReadOnly: true,
  },
  {
    name: DEFAULT_AGENT,
    description: "Does a self-contained piece of work, such as one of several independent changes.",
    prompt: GENERAL,
    extendsBase: true,
    source: "built-in",
    tools: {},
  },
  REVIEWER,
];
