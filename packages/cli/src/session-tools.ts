import {
  createTools,
  FileTracker,
  type SessionTempDir,
  selectOfferedTools,
  type Tool,
} from "@diligent/core/run";
import type { SessionOptions } from "./compose-session.ts";
import { createKnowledgeTools } from "./knowledge-tool.ts";
import type { Notice } from "./output/run-output.ts";

interface ToolParts {
  sessionId: string;
  temporaryDirectory: SessionTempDir;
  isSaved: boolean;
  currentEntryId(): string | undefined;
}

/** The tools that the model of a session is told about. */
export function createSessionTools(
  { cwd, environment, loaded, approvalMode, sandbox }: SessionOptions,
  { sessionId, temporaryDirectory, isSaved, currentEntryId }: ToolParts,
): Tool[] {
  const tools = createTools({
    cwd,
    root: loaded.projectRoot,
    environment,
    sessionId,
    inheritEnvironment: loaded.config.inheritEnvironment,
    files: new FileTracker(),
    outputDirectory: () => temporaryDirectory.path(),
    commandBox: sandbox.isWanted ? () => sandbox.commandBox() : undefined,
  });
  const knowledgeTools = createKnowledgeTools({ loaded, sessionId, isSaved, currentEntryId });
  return selectOfferedTools([...tools, ...knowledgeTools], {
    mode: approvalMode,
    rules: loaded.config.permissions ?? [],
  });
}

/** One line where a box was wanted for commands and there is none. */
export function sandboxNotices({ sandbox }: SessionOptions, tools: readonly Tool[]): Notice[] {
  const message = tools.some(({ name }) => name === "bash") ? sandbox.startProblem : undefined;
  if (message === undefined) return [];
  return [{ level: sandbox.setting === "required" ? "warning" : "info", code: "no_sandbox", message }];
}
