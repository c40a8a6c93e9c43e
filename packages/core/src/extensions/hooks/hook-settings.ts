import { isLoopbackUrl } from "../../infrastructure/urls.ts";
import { PLUGIN_ROOT_VARIABLE } from "../definitions/plugin.ts";

/** The moments at which hooks run, as Claude Code names them. */
export const HOOK_EVENTS = [
  ...(["SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse"] as const),
  ...(["PostToolUseFailure", "PermissionRequest", "Notification", "Stop", "SubagentStart"] as const),
  ...(["SubagentStop", "PreCompact", "PostCompact"] as const),
] as const;

/** One of them. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** A program or a local service that is told of an event, and may decide about it. */
export interface Hook {
  event: HookEvent;
  /** Which tools, or which kind of the event, it is about; everything when left out. */
  matcher: string | undefined;
  /** Limits it further, such as `Bash(git *)`. */
  condition: string | undefined;
  action:
    | { type: "command"; command: string }
    | { type: "http"; url: string; headers: Record<string, string> };
  timeoutMs: number;
  /** True: if it fails, what it was asked about is refused. */
  blocksOnFailure: boolean;
  /** True for a hook of the user, which may also allow what would be asked about. */
  isUsers: boolean;
  /** The file that defines it, for people. */
  source: string;
  /** The directory of the plugin that it belongs to. */
  pluginRoot?: string | undefined;
}

/** Where hooks come from. */
export type HookOrigin = Pick<Hook, "source" | "isUsers" | "pluginRoot">;

/** Hooks of one source, and what of it is not used, each a sentence. */
export interface ParsedHooks {
  hooks: Hook[];
  problems: string[];
}

// As in Claude Code.
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 10 * 60_000;

/**
 * Reads hooks as Claude Code writes them: `{EVENT: [{matcher?, hooks: [{type, command, …}]}]}`. What is wrong or unknown
 * is left out and named; the rest is used.
 */
export function parseHooks(value: unknown, origin: HookOrigin): ParsedHooks {
  const parsed: ParsedHooks = { hooks: [], problems: [] };
  if (value === undefined) return parsed;
  if (!isRecord(value)) return { hooks: [], problems: [`${origin.source}: hooks is not an object.`] };
  for (const [name, groups] of Object.entries(value)) {
    const event = HOOK_EVENTS.find((each) => each === name);
    if (event === undefined) {
      parsed.problems.push(`${origin.source}: there is no hook event ${JSON.stringify(name)} here.`);
      continue;
    }
    for (const group of Array.isArray(groups) ? groups : [groups])
      readGroup(group, { event, origin, parsed });
  }
  return parsed;
}

interface Reading {
  event: HookEvent;
  origin: HookOrigin;
  parsed: ParsedHooks;
}

function readGroup(group: unknown, { event, origin, parsed }: Reading): void {
  const entries = isRecord(group) && Array.isArray(group.hooks) ? group.hooks : [];
  const matcher = isRecord(group) && typeof group.matcher === "string" ? group.matcher : undefined;
  if (entries.length === 0) parsed.problems.push(`${origin.source}: ${event} has an entry without hooks.`);
  for (const entry of entries) {
    const action = readAction(entry, origin);
    if (typeof action === "string" || !isRecord(entry)) {
      parsed.problems.push(`${origin.source}: a hook of ${event} is not used: ${String(action)}.`);
      continue;
    }
    const seconds = typeof entry.timeout === "number" && entry.timeout > 0 ? entry.timeout : undefined;
    parsed.hooks.push({
      ...origin,
      event,
      matcher,
      condition: typeof entry.if === "string" ? entry.if : undefined,
      action,
      timeoutMs: Math.min(seconds === undefined ? DEFAULT_TIMEOUT_MS : seconds * 1_000, MAX_TIMEOUT_MS),
      blocksOnFailure: entry.onFailure === "block",
    });
  }
}

/** The action, or a clause that says why nothing can be done. */
function readAction(entry: unknown, { pluginRoot }: HookOrigin): Hook["action"] | string {
  if (!isRecord(entry)) return "it is not an object";
  if (entry.type === "command") {
    const { command, args = [] } = entry;
    if (typeof command !== "string" || command.trim() === "") return "it has no command";
    if (!Array.isArray(args)) return "its args are not a list";
    // The shell fills variables in, but not in quoted words.
    const fill = (text: string) =>
      pluginRoot === undefined ? text : text.replaceAll(`\${${PLUGIN_ROOT_VARIABLE}}`, () => pluginRoot);
    return { type: "command", command: [command, ...args.map((arg) => quote(fill(String(arg))))].join(" ") };
  }
  if (entry.type === "http") {
    const { url, headers = {} } = entry;
    if (typeof url !== "string" || !isLoopbackUrl(url)) return "its url is not on this machine";
    const texts = Object.entries(isRecord(headers) ? headers : {}).map(([name, text]) => [
      name,
      String(text),
    ]);
    return { type: "http", url, headers: Object.fromEntries(texts) };
  }
  return `hooks of the type ${JSON.stringify(entry.type)} are not supported`;
}

/** For a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What other agents call our tools; the first is the name that a hook is told.
const PEER_NAMES: Readonly<Record<string, readonly string[]>> = {
  bash: ["Bash"],
  read: ["Read"],
  edit: ["Edit", "MultiEdit"],
  write: ["Write"],
  apply_patch: ["apply_patch", "Edit", "Write", "MultiEdit"],
  glob: ["Glob"],
  grep: ["Grep"],
  ls: ["LS"],
  task: ["Task", "Agent"],
  todo: ["TodoWrite"],
  web_fetch: ["WebFetch"],
  skill: ["Skill"],
};

/** The name by which a hook is told of one of our tools. */
export function toHookName(toolName: string): string {
  return PEER_NAMES[toolName]?.[0] ?? toolName;
}

/** True if the hook is about this tool, or this kind of its event; `subject` is undefined for events without either. */
export function isMatched({ matcher }: Pick<Hook, "matcher">, subject: string | undefined): boolean {
  const pattern = matcher?.trim() ?? "";
  if (pattern === "" || pattern === "*" || subject === undefined) return true;
  const names = [...(PEER_NAMES[subject] ?? []), subject];
  // Names only: each has to be one of them exactly.
  if (/^[\w\s|,-]+$/.test(pattern)) return pattern.split(/[|,]/).some((each) => names.includes(each.trim()));
  try {
    const expression = new RegExp(`^(?:${pattern})$`);
    return names.some((name) => expression.test(name));
  } catch {
    return true; // A guard with a mistake in its pattern guards everything.
  }
}

/** True if the condition, such as `Bash(git *)`, holds for a call; a command line counts by each of its commands. */
export function holdsCondition(condition: string | undefined, toolName: string, input: unknown): boolean {
  const [, name = "", pattern] = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(condition ?? "") ?? [];
  if (name === "") return true;
  if (!isMatched({ matcher: name }, toolName)) return false;
  if (pattern === undefined || !isRecord(input)) return true;
  const text = [input.command, input.file_path, input.path].find((value) => typeof value === "string");
  if (typeof text !== "string") return true;
  const glob = pattern.replace(/:\*$/, " *");
  const parts = toolName === "bash" ? text.split(/&&|\|\||[;|&\n]/) : [text];
  return parts.some((part) => matchesGlob(part.trim().replace(/^(?:\w+=\S*\s+)+/, ""), glob));
}

function matchesGlob(text: string, glob: string): boolean {
  // `git *` also means `git` alone.
  const [, start, end] = /^(.*?)( \*)?$/s.exec(glob) ?? [];
  const source = (start ?? glob).split("*").map(RegExp.escape).join(".*");
  return new RegExp(`^${source}${end === undefined ? "" : "(?: .*)?"}$`, "s").test(text);
}
