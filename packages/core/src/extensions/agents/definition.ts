import { findToolName } from "../../tool/coerce-call.ts";
import type { PermissionRule } from "../../tool/types.ts";

/** A kind of sub-agent: what it is told, and what it may do of what its parent may. */
export interface AgentDefinition {
  name: string;
  /** When to use it, for the model that chooses. */
  description: string;
  /** Its system prompt, instead of diligent's own. */
  prompt: string;
  /** True: `prompt` follows diligent's own system prompt. */
  extendsBase?: boolean | undefined;
  /** Where it comes from, for people: `built-in`, `configuration`, or its file. */
  source: string;
  tools: ToolSelection;
  /** Further limits for its calls; a rule that allows one has no effect beyond lifting another of these. */
  rules?: readonly PermissionRule[] | undefined;
  /** True: it neither writes files nor runs commands. */
  isReadOnly?: boolean | undefined;
  /** An id or alias; the parent's model when left out. */
  model?: string | undefined;
  effort?: AgentEffort | undefined;
  /** Model replies after which it stops. */
  maxTurns?: number | undefined;
  /** True: its tasks run in the background unless the call says otherwise. */
  isBackground?: boolean | undefined;
  /** What of its file was not used, each a clause. */
  problems?: readonly string[] | undefined;
}

/** See `Effort`. */
type AgentEffort = "off" | "low" | "medium" | "high" | "xhigh" | "max";

/** The tools of a sub-agent, by our names or those of other agents; `*` stands for any characters. */
export interface ToolSelection {
  /** Only these; all when left out. */
  allowed?: readonly string[] | undefined;
  /** None of these. */
  denied?: readonly string[] | undefined;
}

// What follows from having another tool: they only continue its work, or take its place with some models.
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  bash: ["job_output", "job_kill"],
  edit: ["apply_patch"],
  write: ["apply_patch"],
};

// They concern only the conversation itself.
const ALWAYS_ALLOWED: readonly string[] = ["recall"];

// Nobody answers a sub-agent.
const NEVER_ALLOWED: readonly string[] = ["ask_user"];

/** The names among `names`, those of the parent's tools, that a sub-agent with this selection has. */
export function selectTools(
  { allowed, denied = [] }: ToolSelection,
  names: readonly string[],
): ReadonlySet<string> {
  const matches = (patterns: readonly string[]) =>
    new Set(patterns.flatMap((each) => findNames(each, names)));
  const chosen = allowed === undefined ? new Set(names) : matches([...allowed, ...ALWAYS_ALLOWED]);
  const refused = matches([...denied, ...NEVER_ALLOWED]);
  return new Set([...chosen].filter((name) => !refused.has(name)));
}

function findNames(pattern: string, names: readonly string[]): string[] {
  // `Bash(git *)` means the tool; its commands are limited by rules.
  const name = pattern.replace(/\(.*$/s, "").trim();
  if (name.includes("*")) {
    const expression = new RegExp(`^${name.split("*").map(RegExp.escape).join(".*")}$`, "i");
    return names.filter((each) => expression.test(each));
  }
  const own = findToolName(name, names);
  // `apply_patch` may be the only one of the tools that change files.
  const companions = (COMPANIONS[own ?? name.toLowerCase()] ?? []).filter((each) => names.includes(each));
  return own === undefined ? companions : [own, ...companions];
}
