import { isDeepStrictEqual } from "node:util";
import type { ProjectSession } from "@diligent/core/harness";
import { describeGrant } from "@diligent/core/interactive";
import type { Grant, PermissionRule, ScopedGrant } from "@diligent/core/run";
import { APPROVAL_MODES, type ApprovalMode } from "../arguments/command.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import type { CommandContext } from "../tui/commands/types.ts";
import { note } from "../tui/commands/types.ts";
import { createChoice } from "../tui/pickers/picker.ts";

type Changeable = Pick<ProjectSession, "approval" | "grants" | "reloadRules" | "workspace">;

/**
 * Adds a rule to the user's file; it applies immediately. Returns the result in one or two sentences.
 * @throws Error if the file is broken or not writable; it is unchanged then.
 */
export async function addRule(rule: PermissionRule, opened: Changeable): Promise<string> {
  const { addUserRule } = await import("@diligent/core/config");
  const { path } = await addUserRule(opened.workspace.environment, rule);
  await opened.reloadRules();
  return `Added to ${path}: ${describeRule(rule)}. Active now.${offerNote(rule)}`;
}

/**
 * Removes a rule from the user's file.
 * @throws Error if the rule is not the user's, or the file cannot be changed.
 */
export async function removeRule(
  { rule, detail, userIndex }: ListedRule,
  opened: Changeable,
): Promise<string> {
  if (userIndex === undefined)
    throw new Error(`This rule is not from your own configuration; edit it in ${detail}.`);
  const { removeUserRule } = await import("@diligent/core/config");
  const { path } = await removeUserRule(opened.workspace.environment, userIndex, rule);
  await opened.reloadRules();
  return `Removed from ${path}: ${describeRule(rule)}.${offerNote(rule)}`;
}

/** Revokes a grant. @throws Error if the file cannot be changed. */
export async function removeGrant({ grant, text }: ListedGrant, { grants }: Changeable): Promise<string> {
  await grants.remove(grant);
  return `Revoked: ${text}. You will be asked again.`;
}

/** The model learns at the start of a conversation which tools exist. */
function offerNote({ action, pattern }: PermissionRule): string {
  const deniesEverything = action === "deny" && /^\*+$/.test(pattern);
  return deniesEverything ? " The model's tools change with /reload or in the next session." : "";
}

const MAX_TEXT_COLUMNS = 200;

/** A rule of a configuration file. */
export interface ListedRule {
  rule: PermissionRule;
  /** Its file, or why it is not active. */
  detail: string;
  /** Its index in the user's file; undefined for a rule from elsewhere, which cannot be changed here. */
  userIndex: number | undefined;
}

/** A stored grant. */
export interface ListedGrant extends ScopedGrant {
  /** What it allows, in words for a person, without secrets. */
  text: string;
}

/** Stored grants, and the rules in order of precedence. */
export interface Permissions {
  grants: readonly ListedGrant[];
  rules: readonly ListedRule[];
  /** Problems with their files, one sentence each. */
  problems: readonly string[];
}

/** A file that is broken by now becomes one of the `problems` instead of an exception. */
export async function listPermissions(
  opened: Pick<ProjectSession, "approval" | "grants" | "loaded" | "redactor" | "workspace">,
): Promise<Permissions> {
  const [grants, problem, user] = await Promise.all([
    opened.grants.listByScope(),
    opened.grants.problem(),
    readOwnRules(opened),
  ]);
  const problems = [problem, user.problem].filter((text) => text !== undefined);
  const listed = grants.map((each) => ({ ...each, text: opened.redactor.redact(describeKept(each.grant)) }));
  return { grants: listed, rules: toListedRules(user, opened), problems };
}

/** Includes the text itself where the description of a grant omits it. */
export function describeKept(grant: Grant): string {
  const text = grant.kind === "command_line" ? grant.text : grant.kind === "call" ? grant.details : undefined;
  const described = describeGrant(grant);
  return toSingleLine(text === undefined ? described : `${described}: ${text}`, MAX_TEXT_COLUMNS);
}

/** All of them as lines, numbered: `grants` first, then `rules`. */
function formatPermissions({ grants, rules }: Permissions): string[] {
  const kept = grants.map(({ text, scope }) => `allowed: ${text} (for this ${scope})`);
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

/** A file that is broken by now has no rules to change. */
async function readOwnRules({ workspace }: Pick<ProjectSession, "workspace">): Promise<OwnRules> {
  const { readUserRules } = await import("@diligent/core/config");
  try {
    return await readUserRules(workspace.environment);
  } catch (error) {
    return { path: undefined, rules: [], problem: error instanceof Error ? error.message : String(error) };
  }
}

function toListedRules(
  { path, rules }: OwnRules,
  { approval, loaded }: Pick<ProjectSession, "approval" | "loaded">,
): ListedRule[] {
  const origin = loaded.origins.permissions ?? "configuration";
  const active = approval.rules;
  const others = active.length - rules.length;
  // The user's rules come last, unless their file was changed by hand since it was read.
  const isCounted = others >= 0 && isDeepStrictEqual(active.slice(others), [...rules]);
  const foreign = isCounted ? active.slice(0, others) : origin === path ? [] : active;
  const foreignOrigin = origin.startsWith(`${path}, `) ? origin.slice(`${path}, `.length) : origin;
  const detail = isCounted ? (path ?? origin) : "edit it in its file, then run /reload";
  return [
    ...foreign.map((rule) => ({ rule, detail: foreignOrigin, userIndex: undefined })),
    ...rules.map((rule, userIndex) => ({ rule, detail, userIndex })),
  ];
}

const ACTIONS = ["allow", "deny", "ask", "try"] as const;
const PERMISSIONS = ["read", "write", "execute", "fetch", "mcp"] as const;
const MAX_PATTERN_COLUMNS = 200;

/** How a rule is written by hand. */
export const RULE_SYNTAX = "allow|deny|ask|try read|write|execute|fetch|mcp PATTERN";

/** Parses `deny execute curl`; the pattern is the rest of the line. `problem` is a sentence. */
export function readRule(text: string): { rule: PermissionRule } | { problem: string } {
  const [, first = "", second = "", pattern = ""] = /^\s*(\S*)\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  const action = ACTIONS.find((each) => each === first);
  const permission = PERMISSIONS.find((each) => each === second);
  if (action && permission && pattern !== "") return { rule: { permission, pattern, action } };
  return { problem: `Write a rule as ${RULE_SYNTAX}, for example: deny execute curl` };
}

/** On one line, safe for a terminal. */
export function describeRule({ action, permission, pattern }: PermissionRule): string {
  return `${action} ${permission} ${toSingleLine(pattern, MAX_PATTERN_COLUMNS)}`;
}

const USAGE = `/permissions ${APPROVAL_MODES.join("|")} switches the mode; /permissions ${RULE_SYNTAX} adds a rule to your own configuration; /permissions remove NUMBER removes one; /permissions import shows the rules of other agents.`;

/**
 * `/permissions` in line mode: lists, adds the rule given as `argument`, or removes a number of the list.
 * @throws Error on failure; nothing has changed then.
 */
export async function runPermissionsLine(argument: string, opened: ProjectSession): Promise<string[]> {
  if (argument === "") return describeAll(opened);
  const [, number] = /^remove\s+(\d{1,6})$/.exec(argument) ?? [];
  if (number !== undefined) return [await removeNumber(Number(number), opened)];
  const read = readRule(argument);
  return "problem" in read ? [`${read.problem}.`, USAGE] : [await addRule(read.rule, opened)];
}

async function describeAll(opened: ProjectSession): Promise<string[]> {
  const permissions = await listPermissions(opened);
  const lines = formatPermissions(permissions);
  const nothing = "  No permissions granted and no rules.";
  return [
    ...permissions.problems,
    `The approval mode is ${opened.approval.mode}. ${opened.sandbox.text}`,
    ...(lines.length === 0 ? [nothing] : lines),
    USAGE,
  ];
}

async function removeNumber(number: number, opened: ProjectSession): Promise<string> {
  const { grants, rules } = await listPermissions(opened);
  const grant = grants[number - 1];
  if (grant) return removeGrant(grant, opened);
  const rule = rules[number - 1 - grants.length];
  if (rule) return removeRule(rule, opened);
  throw new Error(`No number ${number} in the list of /permissions.`);
}

// The modes Shift+Tab cycles through. `auto` is left out: it must not be reached by an accidental key.
const CYCLE: readonly ApprovalMode[] = ["ask", "accept-edits", "plan"];

/** What each mode means, in a sentence for people. */
export const APPROVAL_MODE_MEANINGS: Readonly<Record<ApprovalMode, string>> = {
  ask: "Asks before commands that may do more than read, and before anything outside the project.",
  "accept-edits":
    "Also runs mkdir, touch, cp, mv, ln and sed -i without asking if all their paths are inside the project.",
  plan: "The model can only read: writing files and running commands is refused.",
  auto: "Allows everything without asking, except what your rules deny.",
  deny: "Refuses everything that would need confirmation.",
};

/** The next mode for Shift+Tab; `ask` from a mode outside the cycle. */
function nextApprovalMode(mode: ApprovalMode): ApprovalMode {
  return CYCLE[(CYCLE.indexOf(mode) + 1) % CYCLE.length] ?? "ask";
}

/** Parses the mode given to `/permissions`; undefined for anything else. */
export function readApprovalMode(text: string): ApprovalMode | undefined {
  return APPROVAL_MODES.find((mode) => mode === text.trim());
}

/**
 * Switches to the next mode, however many key presses wait for the session. The meaning of the mode is shown
 * until the next key, so that the steps on the way leave no lines in the transcript.
 */
export async function cycleApprovalMode(context: CommandContext): Promise<void> {
  const opened = await context.session();
  const hint = switchTo(nextApprovalMode(opened.approval.mode), opened, context);
  context.change((view) => ({ ...view, hint }));
}

/** Switches the mode and reports it; applies from the next request on. */
async function changeApprovalMode(mode: ApprovalMode, context: CommandContext): Promise<void> {
  note(context, switchTo(mode, await context.session(), context));
}

/** Returns the meaning of the mode. */
function switchTo(
  mode: ApprovalMode,
  { approval }: Pick<ProjectSession, "approval">,
  context: CommandContext,
): string {
  approval.mode = mode;
  context.change((view) => ({ ...view, status: { ...view.status, approvalMode: mode } }));
  return `Mode ${mode}: ${APPROVAL_MODE_MEANINGS[mode]}`;
}

/** Switches to a mode given by name; `auto` only after a confirmation. */
export async function chooseApprovalMode(mode: ApprovalMode, context: CommandContext): Promise<void> {
  const { approval } = await context.session();
  if (mode !== "auto" || approval.mode === "auto") return changeApprovalMode(mode, context);
  const choices = [
    { label: `Stay in ${approval.mode}`, run: () => {} },
    {
      label: "Switch to auto",
      detail: APPROVAL_MODE_MEANINGS.auto,
      run: () => changeApprovalMode("auto", context),
    },
  ];
  context.open(createChoice("permissions", "Allow everything without asking?", choices));
}
