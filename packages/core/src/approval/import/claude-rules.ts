import type { Grant } from "../grants.ts";
import type { PermissionRule } from "../types.ts";
import {
  type Conversion,
  type Fields,
  type ForeignRule,
  type LostRule,
  strictestLast,
  toFields,
  withoutWidened,
} from "./types.ts";

type Action = PermissionRule["action"];
type Scope = "user" | "project";

const LISTS = ["allow", "ask", "deny"] as const;

/** The `permissions` of a settings file of Claude Code, in which `deny` is stronger than `ask`, and `ask` than `allow`. */
export function fromClaudeSettings(settings: Fields, scope: Scope): ForeignRule[] {
  const permissions = toFields(settings.permissions);
  const asked = toTexts(permissions.ask);
  const lost: LostRule[] = [];
  const rules = LISTS.flatMap((action) =>
    toTexts(permissions[action]).map((text): ForeignRule => {
      const { permission, ...converted } = convert(text, { action, scope, asked });
      if (action !== "allow" && permission && converted.rules.length === 0)
        lost.push({ permission, pattern: specOf(text), text: `${action} ${text}` });
      return { text: `${action} ${text}`, action, ...converted };
    }),
  );
  return [...strictestLast(withoutWidened(rules, lost)), ...describeSettings(permissions)];
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

/** Settings beside the rules that have a counterpart somewhere else. */
function describeSettings({ defaultMode, additionalDirectories }: Fields): ForeignRule[] {
  const none = { action: "allow" as const, rules: [] };
  return [
    ...(typeof defaultMode === "string"
      ? [
          {
            ...none,
            text: `defaultMode ${defaultMode}`,
            remark: 'Not a rule here: set "approval" in your configuration, or use /permissions MODE.',
          },
        ]
      : []),
    ...toTexts(additionalDirectories).map((path) => ({
      ...none,
      text: `additionalDirectories ${path}`,
      remark: "Not a rule here: start with --add-dir, or allow reading and writing there by rules.",
    })),
  ];
}

interface Context {
  action: Action;
  scope: Scope;
  /** The rules that ask. */
  asked: readonly string[];
}

interface Converted extends Pick<ForeignRule, "rules" | "grants" | "remark"> {
  /** The kind of what it is about, if that is known. */
  permission?: PermissionRule["permission"];
}

function convert(text: string, context: Context): Converted {
  const { action } = context;
  const [, tool = "", spec] = /^\s*([^()\s]+)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? [];
  switch (tool) {
    case "Bash":
      return toRules("execute", action, toCommandPatterns(spec ?? "*", action));
    case "Read":
      return toRules("read", action, toPathPatterns(spec, context));
    case "Edit":
    case "Write":
    case "MultiEdit":
    case "NotebookEdit":
      return toRules("write", action, toPathPatterns(spec, context));
    case "WebFetch":
      return convertFetch(spec, context);
    case "":
      return { rules: [], remark: "This is not a rule of a known form." };
    default:
      if (tool.startsWith("mcp__")) return convertServerTool(tool.slice("mcp__".length), action);
      return { rules: [], remark: `There are no rules about ${tool} here.` };
  }
}

function specOf(text: string): string {
  return /\((.*)\)/s.exec(text)?.[1] ?? "";
}

function toRules(
  permission: PermissionRule["permission"],
  action: Action,
  conversion: Conversion,
): Converted {
  if ("reason" in conversion) return { permission, rules: [], remark: conversion.reason };
  const { patterns, remark } = conversion;
  return { permission, rules: patterns.map((pattern) => ({ permission, pattern, action })), remark };
}

// Rules here are about one command of a line.
const LINE_SYNTAX = /&&|\|\||[;|&<>`\n]|\$\(/;

/** `git:*` and `git *` also mean `git` alone; a star stands for any text. */
function toCommandPatterns(spec: string, action: Action): Conversion {
  const [, prefix] = /^(.*?)(?::\*| \*)$/s.exec(spec) ?? [];
  const isPrefix = prefix !== undefined && prefix !== "" && !prefix.includes("*");
  const text = spec.trim();
  if (text === "" || text === ":*") return { patterns: ["*"] };
  if (LINE_SYNTAX.test(text.replace(/:\*$/, "")))
    return {
      reason: "A rule here is about one command, not about a line with several or with redirections.",
    };
  if (action !== "allow") {
    // They also match commands that begin with them.
    const words = (isPrefix ? prefix : text).replace(/["']/g, "");
    return { patterns: [words] };
  }
  if (/["']/.test(text))
    return {
      reason: "A rule that allows is compared with the words of a command here, without their quotes.",
    };
  if (text.includes("?")) return { reason: "A question mark would stand for any character here." };
  return { patterns: isPrefix ? [prefix, `${prefix} *`] : [text] };
}

const IS_FREE =
  "No rule is needed: inside the project, it needs no approval here. Outside, it is still asked about.";

/** Patterns as in `.gitignore`, from the working directory unless they begin with `//`, `~/` or `/`. */
function toPathPatterns(spec: string | undefined, { action, scope }: Context): Conversion {
  const isAllowed = action === "allow";
  const text = spec?.trim() ?? "";
  if (text === "") return isAllowed ? { reason: IS_FREE } : { patterns: ["**"] };
  if (text.startsWith("!")) return { reason: "Exceptions from a pattern are rules of their own here." };
  // Only braces mean something in our patterns that they do not mean there.
  const pattern = text.replace(/[{}]/g, "\\$&");
  if (pattern.startsWith("//")) return { patterns: withContents(pattern.slice(1), isAllowed) };
  if (pattern.startsWith("~/")) return { patterns: withContents(pattern, isAllowed) };
  if (pattern.startsWith("/") && scope === "user") {
    if (isAllowed)
      return { reason: "It is not clear which directory it starts from: the project or ~/.claude." };
    return {
      patterns: [...withContents(`.${pattern}`, false), ...withContents(`~/.claude${pattern}`, false)],
    };
  }
  const relative = pattern.replace(/^(?:\.?\/+)+/, "");
  if (/^(?:[*/]+)?$/.test(relative)) return isAllowed ? { reason: IS_FREE } : { patterns: ["./**"] };
  // Without a slash before its end, it means any directory.
  const isAnywhere = relative === pattern && !relative.replace(/\/$/, "").includes("/");
  return { patterns: withContents(isAnywhere ? `**/${relative}` : relative, isAllowed) };
}

/** A pattern for a directory means everything below it. */
function withContents(pattern: string, isAllowed: boolean): string[] {
  const plain = pattern.replace(/^\.\//, "");
  if (plain.endsWith("/**")) return [plain];
  if (plain.endsWith("/")) return [`${plain}**`];
  return isAllowed ? [plain] : [plain, `${plain}/**`];
}

/** A rule would also hold for the connections of commands. */
function convertFetch(spec: string | undefined, { action, asked }: Context): Converted {
  const permission = "fetch";
  const [, host] = /^\s*domain:\s*(\S+)\s*$/.exec(spec ?? "") ?? [];
  const isEverything = spec === undefined || spec.trim() === "" || host === "*";
  if (!isEverything && host === undefined)
    return { permission, rules: [], remark: "Rules about pages name a host here, not an address." };
  if (action !== "allow")
    return { permission, rules: [{ permission, pattern: isEverything ? "*" : (host ?? "*"), action }] };
  if (isEverything || host === undefined)
    return { permission, rules: [], remark: "It would also allow commands to connect to any host." };
  if (!/^[\w.-]+$/.test(host))
    return { permission, rules: [], remark: "It would also allow commands to connect to these hosts." };
  const isAsked = asked.some((text) => text === "WebFetch" || text === `WebFetch(domain:${host})`);
  if (isAsked) return { permission, rules: [], remark: "Another rule asks about it." };
  const grant: Grant = { kind: "host", pattern: host.toLowerCase(), tool: "web_fetch" };
  const remark = "Only in this project, and only for pages that the model reads.";
  return { permission, rules: [], grants: [grant], remark };
}

/** `SERVER`, `SERVER__*` or `SERVER__TOOL`. */
function convertServerTool(name: string, action: Action): Converted {
  const pattern = name.includes("__") || name === "*" ? name : `${name}__*`;
  return toRules("mcp", action, { patterns: [pattern] });
}
