import { isDeepStrictEqual } from "node:util";
import { describeGrant } from "@diligent/core/interactive";
import type { Grant, PermissionRule, ScopedGrant } from "@diligent/core/run";
import type { OpenSession } from "../open-session.ts";
import { toSingleLine } from "../terminal-text.ts";
import { describeRule } from "./rule-text.ts";

const MAX_TEXT_COLUMNS = 200;

/** A rule of a configuration file. */
export interface ListedRule {
  rule: PermissionRule;
  /** The file it is from, or why it does not count. */
  detail: string;
  /** Its place in the user's file; undefined for one that is not theirs, which cannot be changed here. */
  userIndex: number | undefined;
}

/** What was allowed for good, and the rules in the order in which they count. */
export interface Permissions {
  grants: readonly ScopedGrant[];
  rules: readonly ListedRule[];
  /** What is wrong with the files they are kept in, a sentence each. */
  problems: readonly string[];
}

/** A file that is broken by now is one of the `problems`, and not thrown. */
export async function listPermissions(
  opened: Pick<OpenSession, "approval" | "grants" | "loaded" | "workspace">,
): Promise<Permissions> {
  const [grants, problem, user] = await Promise.all([
    opened.grants.listByScope(),
    opened.grants.problem(),
    readOwnRules(opened),
  ]);
  const problems = [problem, user.problem].filter((text) => text !== undefined);
  return { grants, rules: toListedRules(user, opened), problems };
}

/** With the text itself where the words for a grant leave it out. */
export function describeKept(grant: Grant): string {
  const text = grant.kind === "command_line" ? grant.text : grant.kind === "call" ? grant.details : undefined;
  const described = describeGrant(grant);
  return toSingleLine(text === undefined ? described : `${described}: ${text}`, MAX_TEXT_COLUMNS);
}

/** All of them as lines, numbered in the order of `grants` and then `rules`. */
export function formatPermissions({ grants, rules }: Permissions): string[] {
  const kept = grants.map(({ grant, scope }) => `allowed: ${describeKept(grant)} (for this ${scope})`);
  const listed = rules.map(
    ({ rule, detail }) => `rule: ${describeRule(rule)} (${toSingleLine(detail, MAX_TEXT_COLUMNS)})`,
  );
  return [...kept, ...listed].map((text, index) => `  ${index + 1}. ${text}`);
}

interface OwnRules {
  path: string | undefined;
  rules: readonly PermissionRule[];
  problem?: string;
}

/** A file that is broken by now has no rule that could be changed. */
async function readOwnRules({ workspace }: Pick<OpenSession, "workspace">): Promise<OwnRules> {
  const { readUserRules } = await import("@diligent/core");
  try {
    return await readUserRules(workspace.environment);
  } catch (error) {
    return { path: undefined, rules: [], problem: error instanceof Error ? error.message : String(error) };
  }
}

function toListedRules(
  { path, rules }: OwnRules,
  { approval, loaded }: Pick<OpenSession, "approval" | "loaded">,
): ListedRule[] {
  const origin = loaded.origins.permissions ?? "configuration";
  const inForce = approval.rules;
  const others = inForce.length - rules.length;
  // Where those of the user's file count, they come last; otherwise a trusted project's take their place.
  const isCounted = others >= 0 && isDeepStrictEqual(inForce.slice(others), [...rules]);
  const isOwnOnly = origin === path;
  const foreign = isCounted ? inForce.slice(0, others) : isOwnOnly ? [] : inForce;
  const foreignOrigin = origin.startsWith(`${path}, `) ? origin.slice(`${path}, `.length) : origin;
  const detail = isCounted
    ? (path ?? origin)
    : isOwnOnly
      ? "changed in its file: counts after /reload"
      : "yours, but does not count here: the project's rules take its place";
  return [
    ...foreign.map((rule) => ({ rule, detail: foreignOrigin, userIndex: undefined })),
    ...rules.map((rule, userIndex) => ({ rule, detail, userIndex })),
  ];
}
