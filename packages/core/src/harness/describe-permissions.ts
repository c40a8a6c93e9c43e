import type { ApprovalMode } from "../approval/types.ts";
import type { ToolAbilities } from "../config/system-prompt.ts";
import type { NetworkSetting } from "../infrastructure/network/network-setting.ts";
import { describeSandbox, type NeededAnswer } from "../sandbox/index.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import { contextEntries } from "../session/context-builder.ts";
import type { SessionEntry } from "../session/types.ts";
import { isOffered } from "../tool/registry.ts";
import type { Tool } from "../tool/types.ts";
import type { BashToolOptions } from "../tools/bash.ts";
import { promptText } from "../types.ts";
import { describePlanMode } from "./plan-mode.ts";

/** What decides which calls pass, ask or are refused, as far as the model is told. */
export interface PermissionView {
  mode: ApprovalMode;
  /** True if a user is present who can be asked. */
  isAttended: boolean;
  /** How commands run. `unavailable`: a sandbox is required and not available. */
  sandbox: SandboxView | "none" | "unavailable";
  /** What the session's tools could do in any mode. */
  tools: PermittedTools;
}

interface PermittedTools extends ToolAbilities {
  /** It has the tool that reads web pages. */
  canFetch: boolean;
}

interface SandboxView {
  /** False if no command may request to run outside. */
  mayLeave: boolean;
  /** False if each command has its own processes and network. */
  sharesProcesses: boolean;
  /** The hosts that commands reach. */
  network: NetworkSetting;
}

/** What the tools can do that a session's model is offered. */
export function findAbilities(tools: readonly Tool[]): PermittedTools {
  const has = (name: string) => tools.some((tool) => tool.name === name && isOffered(tool));
  const usesPatches = has("apply_patch");
  return {
    canRead: has("read"),
    canWrite: usesPatches || has("write"),
    usesPatches,
    canRun: has("bash"),
    canFetch: has("web_fetch"),
  };
}

/** How the commands of a session run, as the model is told. */
export function toSandboxView(
  sandbox: Pick<SessionSandbox, "setting" | "isExpected" | "hasFailed" | "sharesProcesses" | "network">,
): PermissionView["sandbox"] {
  const isRequired = sandbox.setting === "required";
  if (!sandbox.isExpected || sandbox.hasFailed) return isRequired ? "unavailable" : "none";
  return { mayLeave: !isRequired, sharesProcesses: sandbox.sharesProcesses, network: sandbox.network };
}

/** @param mayBeAllowed false if nobody can be asked, now and later. */
export function findCommandOffers(
  sandbox: PermissionView["sandbox"],
  mayBeAllowed: boolean,
): BashToolOptions {
  const isBoxed = typeof sandbox === "object";
  return {
    offersOutside: isBoxed && sandbox.mayLeave,
    offersDetach: mayBeAllowed && (isBoxed ? sandbox.mayLeave : sandbox === "none"),
    sharesLocalhost: !isBoxed || sandbox.sharesProcesses,
  };
}

/** What the tools can do in this mode, and where commands cannot run at all. */
export function findUsableAbilities({ mode, sandbox, tools }: PermissionView): ToolAbilities {
  const isPlan = mode === "plan";
  return {
    ...tools,
    canWrite: tools.canWrite && !isPlan,
    canRun: tools.canRun && !isPlan && sandbox !== "unavailable",
  };
}

/** The mode with what passes, asks and is refused in it, on one line. */
export function describeMode(view: PermissionView): string {
  const { mode, isAttended } = view;
  const { canRead, canWrite } = findUsableAbilities(view);
  const user = isAttended ? "" : " No user is present.";
  if (mode === "auto") return `Approval mode: auto.${user} ${AUTO}`;
  const free = [...(canRead ? ["read"] : []), ...(canWrite ? ["edit"] : [])].join(" and ");
  const freely = free === "" ? "" : ` You may ${free} files in the project.`;
  const needs = joinWords([
    ...["access outside the project", "reading secret files"],
    ...(view.tools.canFetch ? ["fetching web pages"] : []),
    ...(canWrite ? ["writing protected files (.git, .env, CI and the like)"] : []),
  ]);
  const rest =
    answerIn(view) === "asked"
      ? `The user is asked before ${needs}.`
      : `Refused unless a rule allows it: ${needs}.`;
  const refused = mode === "plan" ? " Every change and command is refused." : "";
  return `Approval mode: ${mode}.${user}${refused}${freely} ${rest}`;
}

function joinWords(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const AUTO =
  "Nothing needs approval, except what would lose commits or refs that undo could not restore. Rules may forbid calls.";

/** How commands run, as a section of the system prompt; undefined if there is no tool for them, or they are refused. */
export function describeCommands(view: PermissionView): string | undefined {
  const { mode, isAttended, sandbox, tools } = view;
  if (!tools.canRun || mode === "plan") return undefined;
  if (sandbox === "unavailable")
    return section(
      "Every command is refused: the user's settings require a sandbox, which is not available.",
    );
  if (sandbox === "none") return section(describeUnsandboxed(view));
  return describeSandbox({
    ...sandbox,
    answer: answerIn(view),
    canWrite: tools.canWrite,
    asksForHosts: isAttended && mode !== "deny",
  });
}

function section(text: string): string {
  return `# Commands\n\n${text}`;
}

function describeUnsandboxed(view: PermissionView): string {
  const answer = answerIn(view);
  if (answer === "granted") return "Commands run without a sandbox and without a question.";
  const edits =
    view.mode === "accept-edits" ? " or edit files in the project (mkdir, touch, cp, mv, ln, sed -i)" : "";
  return (
    `Commands run without a sandbox. Those that provably only read${edits} run at once; ` +
    (answer === "asked" ? "about others the user is asked." : "others are refused unless a rule allows them.")
  );
}

/** What happens to a call that needs approval. */
function answerIn({ mode, isAttended }: PermissionView): NeededAnswer {
  if (mode === "auto") return "granted";
  return isAttended && mode !== "deny" ? "asked" : "refused";
}

/**
 * The note for the model if what it may do differs from what it was told last, by the system prompt or by an earlier note;
 * undefined otherwise. The prompt stays as it is, so that the provider's cache is used.
 * @param path the entries of the conversation, from its beginning.
 */
export function notePermissionChange(
  view: PermissionView,
  { systemPrompt, path }: { systemPrompt: string; path: readonly SessionEntry[] },
): string | undefined {
  const text = describeChange(view);
  const told = contextEntries(path).kept.findLast((entry) => textOf(entry).startsWith(CHANGED));
  if (told) return textOf(told) === text ? undefined : text;
  const inPrompt = [`\n${describeMode(view)}`, describeCommands(view) ?? ""];
  return inPrompt.every((part) => systemPrompt.includes(part)) ? undefined : text;
}

/** Of a user's message; empty for other entries. */
function textOf(entry: SessionEntry): string {
  return entry.type === "message" && entry.message.role === "user" ? promptText(entry.message) : "";
}

const CHANGED = "[What you may do has changed: ";

/** On one line. */
function describeChange(view: PermissionView): string {
  const further = view.mode === "plan" ? describePlanMode() : describeCommands(view);
  const texts = [describeMode(view), ...(further === undefined ? [] : [further.replace(/^# .*\n+/, "")])];
  return `${CHANGED}${texts.join(" ").replace(/\s*\n\s*/g, " ")}]`;
}
