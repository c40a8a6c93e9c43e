import type { ApprovalRequest, PermissionRule } from "../tool/types.ts";
import { matchesText } from "./rules.ts";
import { type ApprovalVerdict, allow } from "./types.ts";

/** Lists of tools as a user writes them; see `parseToolList`. */
export interface ToolListTexts {
  allowed?: readonly string[] | undefined;
  disallowed?: readonly string[] | undefined;
}

/** Calls of a tool. */
interface ListedTool {
  /** As written. */
  text: string;
  /** Folded; `*` matches any characters. */
  name: string;
  /** Only the calls that match one of these patterns of permission rules; all calls when left out. */
  patterns?: readonly string[];
}

/** Tools whose calls need no approval, and tools that are not available, whatever is configured. */
export class ToolLists {
  private readonly allowed: readonly ListedTool[];
  private readonly disallowed: readonly ListedTool[];

  /** @throws RangeError for a text that is not a list of tools; its message is the part that is wrong. */
  constructor({ allowed = [], disallowed = [] }: ToolListTexts) {
    this.allowed = allowed.flatMap(parseToolList);
    this.disallowed = disallowed.flatMap(parseToolList);
  }

  /** True if all calls of the tool are disallowed. A tool that writes files by patches also counts as `edit` and `write`. */
  isDisallowed(tool: string): boolean {
    const names = tool === "apply_patch" ? [tool, "edit", "write"] : [tool];
    return this.disallowed.some((each) => !each.patterns && names.some((name) => isListed(name, each)));
  }

  /**
   * The verdict if all calls of the tool are allowed. As with `auto`, no call asks because it may do more than read; what
   * asks for another reason, such as a protected file, still does.
   */
  relax(request: ApprovalRequest, verdict: ApprovalVerdict): ApprovalVerdict {
    const { toolName, details } = request;
    const asks = verdict.action === "ask" || verdict.wouldAsk === true;
    const isOrdinary = ["shell_command", "command_syntax"].includes(verdict.gate) && details?.detach !== true;
    const listed = this.allowed.find((each) => !each.patterns && isListed(toolName, each));
    if (!asks || !isOrdinary || !listed) return verdict;
    return allow("rule", `${listed.text} is one of the allowed tools`);
  }

  /** A listed name that is not among these tools; undefined if there is none. Tools of servers may come later. */
  findUnknown(known: readonly string[]): string | undefined {
    const isKnown = (each: ListedTool) => known.some((name) => isListed(name, each));
    return [...this.allowed, ...this.disallowed].find(
      (each) => !each.name.includes("*") && !each.name.startsWith(SERVER_PREFIX) && !isKnown(each),
    )?.text;
  }

  /**
   * The rules for one request. A list means the same as permission rules that only apply to calls of its tools: what is
   * allowed comes before the configured rules, which are stronger, and what is disallowed comes after them.
   */
  addRules(
    { toolName, permission }: ApprovalRequest,
    rules: readonly PermissionRule[] = [],
  ): readonly PermissionRule[] {
    const names = toolName === "apply_patch" ? [toolName, "edit"] : [toolName];
    const toRules = (tools: readonly ListedTool[], action: "allow" | "deny") =>
      tools
        .filter((each) => names.some((name) => isListed(name, each)))
        .flatMap(({ patterns = ["*"] }) => patterns.map((pattern) => ({ permission, pattern, action })));
    return [...toRules(this.allowed, "allow"), ...rules, ...toRules(this.disallowed, "deny")];
  }
}

/**
 * Reads a list such as `read,bash(git log *)`. Names are compared without case and, unless they are those of servers' tools,
 * without underscores: `WebFetch` is `web_fetch`. In parentheses stands the pattern of a permission rule; `bash(git:*)` means `git` and everything that
 * begins with it.
 */
function parseToolList(text: string): ListedTool[] {
  return splitList(text).map((part) => {
    const [, name, pattern] = /^([\w.*-]+)(?:\((.+)\))?$/s.exec(part) ?? [];
    if (name === undefined) throw new RangeError(part);
    return { text: part, name: foldToolName(name), ...(pattern && { patterns: toPatterns(pattern.trim()) }) };
  });
}

/** Splits at commas and white space outside parentheses. */
function splitList(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (depth <= 0 && /[,\s]/.test(char)) parts.push("");
    else parts.push(`${parts.pop() ?? ""}${char}`);
  }
  return parts.filter((each) => each !== "");
}

function toPatterns(pattern: string): string[] {
  const [, prefix] = /^(.+):\*$/s.exec(pattern) ?? [];
  if (prefix !== undefined) return [prefix, `${prefix} *`];
  return [pattern.replace(/^domain:/, "")];
}

/** Begins the names of servers' tools. */
const SERVER_PREFIX = "mcp__";

function foldToolName(name: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith(SERVER_PREFIX) ? lower : lower.replaceAll("_", "");
}

function isListed(tool: string, { name }: ListedTool): boolean {
  return matchesText(name, foldToolName(tool));
}
