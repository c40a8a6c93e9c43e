import { existsSync } from "node:fs";
import { knowledgeFilePath, loadKnowledge } from "@diligent/core/light";
import {
  BASE_SYSTEM_PROMPT,
  type ConfigWarning,
  composeSystemPrompt,
  describeSandbox,
  discoverInstructions,
  type Environment,
  type LoadedConfig,
  platformName,
  readGitBranch,
  resolveKnowledgeConfig,
  resolvePaths,
  type SessionSandbox,
  type SystemPromptParts,
  type Tool,
  utcDate,
} from "@diligent/core/run";
import { describeError } from "./describe-error.ts";
import type { Notice } from "./output/run-output.ts";

/** What the system prompt depends on. */
export interface PromptOptions {
  cwd: string;
  environment: Environment;
  loaded: LoadedConfig;
  /** What the command line adds. */
  appendSystemPrompt?: string | undefined;
  /** Of the model the prompt is for, in tokens: how much room there is for knowledge depends on it. */
  contextWindow: number;
  /** How commands run. */
  sandbox: Pick<SessionSandbox, "isExpected" | "setting">;
  /** What the model has: it is asked to record knowledge only where it can. */
  tools: readonly Pick<Tool, "name">[];
}

/** A system prompt as it was at one moment: instructions, knowledge and the facts of the place were read then. */
export interface ComposedPrompt {
  systemPrompt: string;
  /** What it was made of. */
  parts: SystemPromptParts;
  /** What could not be told to the model, or not wholly. */
  notices: Notice[];
}

/** The system prompt of a session. */
export interface SessionPrompt {
  current: ComposedPrompt;
  /** Of the model it will be for when it is composed anew. */
  contextWindow: number;
  /**
   * Reads instructions, knowledge and the facts of the place anew. To be called where the conversation begins again with
   * a summary; never in between, so that the prompt stays the same word for word.
   */
  renew(): Promise<string>;
}

/** Composes the first prompt at once; `renew` counts with the `contextWindow` that the prompt has by then. */
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
  const gitBranch = readGitBranch(projectRoot);
  const hasCommands = options.tools.some(({ name }) => name === "bash");
  const isBoxed = hasCommands && options.sandbox.isExpected;
  const parts: SystemPromptParts = {
    base: config.systemPrompt ?? BASE_SYSTEM_PROMPT,
    facts: { cwd, projectRoot, platform: platformName(), date: utcDate(), gitBranch },
    sandbox: isBoxed ? describeSandbox({ mayLeave: options.sandbox.setting !== "required" }) : undefined,
    instructions,
    additional: [
      ...(config.instructions ?? []),
      ...(appendSystemPrompt === undefined ? [] : [appendSystemPrompt]),
    ],
    knowledge: {
      section: await tellKnowledge(options, notices),
      isRecorded: options.tools.some(({ name }) => name === "add_knowledge"),
    },
  };
  return { systemPrompt: composeSystemPrompt(parts), parts, notices };
}

/** What a person is told about a warning of the library. */
export function toNotice({ code, message }: ConfigWarning): Notice {
  return { level: "warning", code, message };
}

/** The prompt's section of knowledge; empty where there is none, and where it may not be read, which is noted. */
async function tellKnowledge({ loaded, contextWindow }: PromptOptions, notices: Notice[]): Promise<string> {
  const { config, projectRoot } = loaded;
  const { enabled, injectionBudget } = resolveKnowledgeConfig(config.knowledge, contextWindow);
  const { knowledge } = resolvePaths(projectRoot);
  // Most sessions begin without any, and then nothing that reads it is loaded.
  if (!enabled || !existsSync(knowledgeFilePath(knowledge))) return "";
  try {
    const { buildKnowledgeSection, createStaleCheck, readKnowledge } = await loadKnowledge();
    const findChangedFile = createStaleCheck(projectRoot);
    return buildKnowledgeSection(await readKnowledge(knowledge), injectionBudget, { findChangedFile });
  } catch (error) {
    const message = `The model is told nothing of earlier sessions: ${describeError(error)}`;
    notices.push({ level: "warning", code: "knowledge_not_loaded", message });
    return "";
  }
}
