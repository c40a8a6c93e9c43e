import type { Grant } from "../grants.ts";
import type { PermissionRule } from "../types.ts";

/** A rule of another agent, and what it becomes here. */
export interface ForeignRule {
  /** As the other agent writes it, after its action, such as `deny Read(.env)`. */
  text: string;
  action: PermissionRule["action"];
  /** Means the same, or less if it allows. Empty if there is no such rule here. */
  rules: readonly PermissionRule[];
  /** Kept for this project like an "always" answer, where a rule would allow more. */
  grants?: readonly Grant[] | undefined;
  /** How it differs, or why it cannot be carried over; a sentence. */
  remark?: string | undefined;
}

/** Rules that one file of another agent holds. */
export interface ForeignRuleFile {
  /** The program, such as `Codex`. */
  agent: string;
  /** Absolute. */
  path: string;
  /** For people: relative to the project root, or beginning with `~/`. */
  shown: string;
  /** Where its rules apply: in all projects of the user, or in the project that contains the file. */
  scope: "user" | "project";
  /** In order: of those that match, the last one decides. */
  rules: readonly ForeignRule[];
  /** Why nothing of it can be used, a sentence. */
  problem?: string | undefined;
}

/** An object of a file whose content is unknown. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value if it is an object, otherwise an empty one. */
export function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The patterns that a rule of another agent becomes, or why it becomes none. */
export type Conversion = { patterns: readonly string[]; remark?: string } | { reason: string };

const STRICTNESS = { allow: 0, try: 1, ask: 2, deny: 3 } as const;

/** For agents whose strictest rule decides: in our order, in which the last one does. */
export function strictestLast(rules: readonly ForeignRule[]): ForeignRule[] {
  return rules.toSorted((left, right) => STRICTNESS[left.action] - STRICTNESS[right.action]);
}

/** A rule that denies or asks and cannot be carried over. */
export interface LostRule {
  permission: PermissionRule["permission"];
  /** Its pattern, as the other agent writes it. */
  pattern: string;
  /** The whole rule, for people. */
  text: string;
}

/** Leaves out what would allow more than in the other agent: an exception to it cannot be carried over. */
export function withoutWidened(rules: readonly ForeignRule[], lost: readonly LostRule[]): ForeignRule[] {
  return rules.map((rule) => {
    const cause = lost.find(({ permission, pattern }) =>
      rule.rules.some(
        (each) =>
          each.action === "allow" &&
          each.permission === permission &&
          (permission !== "execute" || mayOverlap(each.pattern, pattern)),
      ),
    );
    if (cause === undefined) return rule;
    const remark = `Its exception "${cause.text}" cannot be carried over, and without it more would be allowed.`;
    return { ...rule, rules: [], grants: [], remark };
  });
}

/** False if no text can match both: what precedes the first star differs. */
function mayOverlap(left: string, right: string): boolean {
  const [first, second] = [left, right].map((pattern) => pattern.split(/[*?]/, 1)[0] ?? "");
  if (first === undefined || second === undefined) return true;
  return first.startsWith(second) || second.startsWith(first);
}
