import { existsSync } from "node:fs";
import type { ConfigWarning } from "../config/errors.ts";
import { type DiscoveredInstruction, discoverInstructions } from "../config/instructions.ts";
import type { LoadedConfig } from "../config/loader.ts";
import {
  composeBasePrompt,
  composeSystemPrompt,
  type SystemPromptSections,
} from "../config/system-prompt.ts";
import { resolvePaths } from "../infrastructure/diligent-dir.ts";
import { readGitBranch } from "../infrastructure/paths/git.ts";
import { type Environment, platformName, utcDate } from "../infrastructure/runtime.ts";
import { knowledgeFilePath, resolveKnowledgeConfig } from "../knowledge/types.ts";
import type { Tool } from "../tool/types.ts";
import {
  describeCommands,
  describeMode,
  findUsableAbilities,
  type PermissionView,
} from "./describe-permissions.ts";
import { describeError } from "./errors.ts";
import { describePlanMode } from "./plan-mode.ts";
import type { Notice } from "./types.ts";

/** The inputs of the system prompt. */
interface PromptOptions {
  cwd: string;
  environment: Environment;
  loaded: LoadedConfig;
  /** Replaces the configured system prompt. */
  basePrompt?: string | undefined;
  /** Text from the front end. */
  appendSystemPrompt?: string | undefined;
  /** The sections of the session's extensions, which follow the instructions. */
  addedSections: readonly string[];
  /** The window of the prompt's model, in tokens: it limits the knowledge in the prompt. */
  contextWindow: number;
  /** What the mode, the sandbox and the tools allow now. */
  permissions(): PermissionView;
  /** Receives the instructions of each prompt. */
  onInstructions?: ((instructions: readonly DiscoveredInstruction[]) => void) | undefined;
  /** The model's tools: it is asked to record knowledge only if it can. */
  tools: readonly Pick<Tool, "name" | "isRefused">[];
}

/** A system prompt at one moment, with the instructions, knowledge and environment facts of that time. */
interface ComposedPrompt {
  systemPrompt: string;
  /** The parts of the prompt. */
  parts: SystemPromptSections;
  /** Problems with files that the prompt leaves out, or contains only in part. */
  notices: Notice[];
  /** Counts the knowledge entries in it as used, except those in `counted`, and adds them there. */
  countKnowledge?: ((counted: Set<string>) => void) | undefined;
}

/** The system prompt of a session. */
export interface SessionPrompt {
  current: ComposedPrompt;
  /** The window of the model for which the prompt is composed next. */
  contextWindow: number;
  /**
   * Reads instructions, knowledge and environment facts again. Call it when the conversation restarts with a summary,
   * never in between, so that the prompt stays identical.
   */
  renew(): Promise<string>;
}

/** Composes the first prompt; `renew` uses the value of `contextWindow` at that time. */
export async function openPrompt(options: PromptOptions): Promise<SessionPrompt> {
  const { contextWindow } = options;
  const prompt: SessionPrompt = {
    contextWindow,
    current: await composePrompt(options),
    async renew() {
      prompt.current = await composePrompt({ ...options, contextWindow: prompt.contextWindow });
      return prompt.current.systemPrompt;
    },
  };
  return prompt;
}

async function composePrompt(options: PromptOptions): Promise<ComposedPrompt> {
  const { cwd, environment, loaded, appendSystemPrompt } = options;
  const { config, projectRoot } = loaded;
  const notices: Notice[] = [];
  const instructions = await discoverInstructions(cwd, {
    environment,
    onWarning: (warning) => notices.push(toNotice(warning)),
  });
  options.onInstructions?.(instructions);
  const gitBranch = readGitBranch(projectRoot);
  const permissions = options.permissions();
  const { section, countUse: countKnowledge } = await notifyKnowledge(options, notices);
  const parts: SystemPromptSections = {
    base: options.basePrompt ?? config.systemPrompt ?? composeBasePrompt(findUsableAbilities(permissions)),
    facts: {
      cwd,
      projectRoot,
      platform: platformName(),
      date: utcDate(),
      gitBranch,
      mode: describeMode(permissions),
    },
    sandbox: describeCommands(permissions),
    instructions,
    additional: [
      ...(config.instructions ?? []),
      ...(appendSystemPrompt === undefined ? [] : [appendSystemPrompt]),
      ...options.addedSections,
      // An agent's own prompt says how it ends.
      ...(permissions.mode === "plan" && options.basePrompt === undefined ? [describePlanMode()] : []),
    ],
    knowledge: {
      section,
      isRecorded: options.tools.some((tool) => tool.name === "add_knowledge" && !tool.isRefused?.()),
    },
  };
  return { systemPrompt: composeSystemPrompt(parts), parts, notices, countKnowledge };
}

/** Converts a warning of the library into a notice for the user. */
export function toNotice({ code, message }: ConfigWarning): Notice {
  return { level: "warning", code, message };
}

const NO_KNOWLEDGE = { section: "" };

/** The prompt's knowledge section and what counts its entries; empty without knowledge, or if it may not be read, which is reported in a notice. */
async function notifyKnowledge(
  { environment, loaded, contextWindow }: PromptOptions,
  notices: Notice[],
): Promise<{ section: string; countUse?: (counted: Set<string>) => void }> {
  const { config, projectRoot } = loaded;
  const { enabled, injectionBudget } = resolveKnowledgeConfig(config.knowledge, contextWindow);
  const { knowledge } = resolvePaths(projectRoot);
  // Most sessions start without knowledge, and then its reader is not loaded.
  if (!enabled || !existsSync(knowledgeFilePath(knowledge))) return NO_KNOWLEDGE;
  const trust = await readTrustNow(loaded, environment);
  if ("message" in trust) {
    notices.push({ level: "warning", code: "knowledge_not_trusted", message: trust.message });
    return NO_KNOWLEDGE;
  }
  try {
    const { createStaleCheck, noteKnowledgeUse, readKnowledge, selectKnowledge } = await import(
      "../knowledge/index.ts"
    );
    const findChangedFile = createStaleCheck(projectRoot);
    const { section, ids } = selectKnowledge(await readKnowledge(knowledge), injectionBudget, {
      findChangedFile,
    });
    const countUse = (counted: Set<string>) => {
      const added = ids.filter((id) => !counted.has(id));
      for (const id of added) counted.add(id);
      noteKnowledgeUse(projectRoot, added, environment);
    };
    return { section, countUse };
  } catch (error) {
    const message = `Knowledge of earlier sessions is not used: ${describeError(error)}`;
    notices.push({ level: "warning", code: "knowledge_not_loaded", message });
    return NO_KNOWLEDGE;
  }
}

/** Another program may have replaced the file since the session was opened. */
async function readTrustNow(
  { projectRoot: root, knowledgeTrust }: LoadedConfig,
  environment: Environment,
): Promise<LoadedConfig["knowledgeTrust"]> {
  const { readKnowledgeTrust } = await import("../config/trust.ts");
  const trustedOnce = knowledgeTrust.state === "once" ? knowledgeTrust.trustedOnce : undefined;
  return readKnowledgeTrust({ root, environment, trustedOnce });
}
