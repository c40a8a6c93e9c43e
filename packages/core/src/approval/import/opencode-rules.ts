import type { PermissionRule } from "../types.ts";
import {
  type Conversion,
  type Fields,
  type ForeignRule,
  type LostRule,
  toFields,
  withoutWidened,
} from "./types.ts";

type Action = PermissionRule["action"];
type Permission = PermissionRule["permission"];

const ACTIONS: readonly unknown[] = ["allow", "ask", "deny"];
const EVERYTHING: readonly Permission[] = ["execute", "write", "read", "fetch", "mcp"];

/** `permission` and `tools` of opencode, in which the last rule that matches decides, as here. */
export function fromOpencodeConfig({ permission, tools }: Fields): ForeignRule[] {
  const switchedOff = Object.entries(toFields(tools)).filter(([, isOn]) => isOn === false);
  const listed = typeof permission === "string" ? { "*": permission } : toFields(permission);
  const entries = [
    ...switchedOff.map(([key]): [string, unknown] => [key, "deny"]),
    ...Object.entries(listed),
  ];
  const lost: LostRule[] = [];
  const rules = entries.flatMap(([key, value]) =>
    toPatterns(value).map(([pattern, action]): ForeignRule => {
      const name = pattern === "*" ? key : `${key} ${JSON.stringify(pattern)}`;
      const text = `${typeof action === "string" ? action : "?"} ${name}`;
      if (!isAction(action))
        return { text, action: "deny", rules: [], remark: "Its action is not allow, ask or deny." };
      const { kinds, ...converted } = convert(key, pattern, action);
      if (action !== "allow" && converted.rules.length === 0)
        lost.push(...kinds.map((permission) => ({ permission, pattern, text })));
      return { text, action, ...converted };
    }),
  );
  return withoutWidened(rules, lost);
}

function isAction(value: unknown): value is Action {
  return ACTIONS.includes(value);
}

function toPatterns(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [["*", value]];
}

interface Converted extends Pick<ForeignRule, "rules" | "remark"> {
  /** What it is about. */
  kinds: readonly Permission[];
}

function convert(key: string, pattern: string, action: Action): Converted {
  switch (key) {
    case "*":
      return convertEverything(pattern, action);
    case "bash":
      return toRules("execute", action, toCommandPatterns(pattern));
    case "read":
      return toRules("read", action, toPathPatterns(pattern, action));
    case "edit":
    case "write":
    case "patch":
      return toRules("write", action, toPathPatterns(pattern, action));
    case "external_directory":
      return convertOutside(pattern, action);
    case "webfetch":
      return convertFetch(pattern, action);
    default:
      return convertOther(key, action);
  }
}

function toRules(permission: Permission, action: Action, conversion: Conversion): Converted {
  const kinds = [permission];
  if ("reason" in conversion) return { kinds, rules: [], remark: conversion.reason };
  const { patterns, remark } = conversion;
  return { kinds, rules: patterns.map((pattern) => ({ permission, pattern, action })), remark };
}

function convertEverything(pattern: string, action: Action): Converted {
  if (pattern !== "*")
    return { kinds: EVERYTHING, rules: [], remark: "A pattern for all tools has no counterpart." };
  const kinds = action === "allow" ? (["execute", "mcp"] as const) : EVERYTHING;
  const rules = kinds.map((permission) => ({ permission, pattern: "*", action }));
  if (action !== "allow") return { kinds, rules };
  return {
    kinds,
    rules,
    remark: "What lies outside the project, and pages of other hosts, are still asked about.",
  };
}

const LINE_SYNTAX = /&&|\|\||[;|&<>`\n]|\$\(/;

/** `git *` also means `git` alone. */
function toCommandPatterns(pattern: string): Conversion {
  if (LINE_SYNTAX.test(pattern))
    return {
      reason: "A rule here is about one command, not about a line with several or with redirections.",
    };
  const [, prefix] = /^(.+) \*$/s.exec(pattern) ?? [];
  return { patterns: prefix === undefined ? [pattern] : [prefix, pattern] };
}

const IS_FREE =
  "No rule is needed: inside the project, it needs no approval here. Outside, it is still asked about.";

/** A star of opencode also stands for slashes; where it allows, ours does not. */
function toPathPatterns(pattern: string, action: Action): Conversion {
  const text = pattern.replace(/^\$HOME(?=\/|$)/, "~").replace(/\*+/g, "*");
  if (text === "*") return action === "allow" ? { reason: IS_FREE } : { patterns: ["**"] };
  const escaped = text.replace(/[[\]{}!\\]/g, "\\$&");
  const body = escaped.replace(/\/\*$/, "");
  const end = body === escaped ? "" : "/**";
  const star = action === "allow" ? "*" : "{*,*/**/*}";
  return { patterns: [`${body.replaceAll("*", star)}${end}`] };
}

function convertOutside(pattern: string, action: Action): Converted {
  if (pattern !== "*") {
    const read = toRules("read", action, toPathPatterns(pattern, action));
    if (action === "allow")
      return { ...read, remark: "Only for reading: writing there is still asked about." };
    const write = toRules("write", action, toPathPatterns(pattern, action));
    return { kinds: ["read", "write"], rules: [...read.rules, ...write.rules] };
  }
  const remark =
    action === "ask"
      ? "No rule is needed: what lies outside the project is asked about here."
      : "There is no rule about everything outside the project here; it is asked about.";
  // It is asked about unless a rule of this file allows it, and those name what they allow.
  return { kinds: [], rules: [], remark };
}

function convertFetch(pattern: string, action: Action): Converted {
  const kinds = ["fetch"] as const;
  if (action === "allow")
    return { kinds, rules: [], remark: "It would also allow commands to connect to any host." };
  if (pattern === "*") return { kinds, rules: [{ permission: "fetch", pattern, action }] };
  return { kinds, rules: [], remark: "Rules about pages name a host here, not an address." };
}

// Tools of opencode itself; other names are those of servers' tools, such as `github_*`.
const OWN_TOOLS =
  /^(?:glob|grep|list|task|skill|lsp|todo\w*|websearch|codesearch|doom_loop|question|plan_\w+|batch|invalid)$/;

function convertOther(key: string, action: Action): Converted {
  if (OWN_TOOLS.test(key) || !key.includes("_"))
    return { kinds: [], rules: [], remark: `There are no rules about ${key} here.` };
  if (/^[^*_]+_\*$/.test(key)) return toRules("mcp", action, { patterns: [key] });
  // Where the name of the server ends is not known.
  if (action === "allow")
    return {
      kinds: ["mcp"],
      rules: [],
      remark: "It is not clear which server it names: answer its first question.",
    };
  return toRules("mcp", action, { patterns: [key.replaceAll("_", "*")] });
}
