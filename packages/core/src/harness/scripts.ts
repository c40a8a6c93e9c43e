import { dirname, resolve } from "node:path";
import type { LoadedConfig } from "../config/loader.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import { withIdleWatchdog } from "../provider/idle-watchdog.ts";
import {
  createScriptedStream,
  findStart,
  type Recording,
  readScript,
  scriptedModel,
} from "../provider/scripted.ts";
import type { Model, RunConditions } from "../provider/types.ts";
import { calibrationKey, readCalibration } from "../session/compaction/calibration.ts";
import type { CompactionSettings } from "../session/compaction/limits.ts";
import type { SessionEntry } from "../session/types.ts";
import { describeError, UsageError } from "./errors.ts";
import type { ModelChoice } from "./types.ts";

/**
 * Starts recording the model's replies as a script.
 * @param file absolute, or relative to `cwd`.
 * @param warn called if the script can no longer be written, or contains two models; the run continues.
 * @throws UsageError if it cannot be created or already exists.
 */
export async function openRecording(
  file: string,
  { cwd, warn }: { cwd: string; warn: (message: string) => void },
): Promise<Recording> {
  // Without its trailing slash or dot the path would name a file.
  if (/(^|\/)(\.{1,2})?$/.test(file))
    throw new UsageError(`--record ${file}: is a directory; name a file in it`);
  const { startRecording } = await import("../provider/scripted/recording.ts");
  const path = resolve(cwd, file);
  try {
    return startRecording(
      path,
      (error) => warn(`The recording is incomplete: ${path} cannot be written: ${systemErrorText(error)}`),
      ({ recorded, other }) => warn(describeOther(path, { recorded, other })),
    );
  } catch (error) {
    const directory = dirname(path);
    const what = isAbout(error, directory)
      ? `its directory ${directory} cannot be written to`
      : "it cannot be created";
    throw new UsageError(`--record ${file}: ${what}: ${systemErrorText(error)}`);
  }
}

function describeOther(path: string, { recorded, other }: Record<"recorded" | "other", Model>): string {
  return (
    `The recording ${path} holds the context window, price and settings of ${recorded.id} only: ` +
    `its replay uses those for every reply, including the replies of ${other.id}.`
  );
}

/** True for a file system error at this path. */
function isAbout(error: unknown, path: string): boolean {
  return error instanceof Error && "path" in error && error.path === path;
}

interface Surroundings {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config">;
  /** False: ignore limits that were learned about models. */
  persist: boolean;
  /** From the command line. */
  maxTurns?: number | undefined;
  /** From the command line, in US dollars. */
  maxCost?: number | undefined;
}

/**
 * The settings of a run that recordings save and replays use. They are read once, so that measurements of another
 * process do not change the run. A replayed recording has its own, unless the command line sets a limit.
 */
export function toRunConditions(
  choice: Pick<ModelChoice, "model" | "conditions">,
  surroundings: Surroundings,
): RunConditions {
  const conditions = choice.conditions ?? conditionsOf(choice.model, surroundings);
  const { maxTurns = conditions.maxTurns, maxCost = conditions.maxCost } = surroundings;
  return { ...conditions, maxTurns, maxCost };
}

function conditionsOf(model: Model, { environment, loaded, persist }: Surroundings): RunConditions {
  const { compaction = {}, knowledge, maxRetries, maxTurns } = loaded.config;
  const { enabled, reserveTokens, keepRecentTokens, maxContextTokens, pruning } = compaction;
  const isLearned = persist && model.provider !== "scripted";
  return {
    compaction: { enabled, reserveTokens, keepRecentTokens, maxContextTokens, pruning } satisfies Record<
      keyof CompactionSettings,
      unknown
    >,
    flushKnowledge: knowledge?.flushBeforeCompaction,
    nudgeInterval: knowledge?.nudgeInterval,
    maxRetries,
    maxTurns,
    calibration: isLearned ? readCalibration(environment, calibrationKey(model)) : undefined,
  };
}

/**
 * Opens the model that plays a script.
 * @param scriptPath absolute, or relative to `cwd`.
 * @param conversation its working directory, and the entries of the conversation it continues.
 * @throws UsageError if the file cannot be read or is not a script.
 */
export async function openScript(
  scriptPath: string,
  { cwd, path: played = [] }: { cwd: string; path?: readonly SessionEntry[] | undefined },
): Promise<ModelChoice> {
  try {
    const script = await readScript(resolve(cwd, scriptPath));
    const messages = played.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const summaries = played.filter(({ type }) => type === "compaction").length;
    // A new conversation starts at the first turn, which the provider finds itself.
    const start = played.length > 0 ? findStart(script, { messages, summaries }) : {};
    return {
      model: scriptedModel(scriptPath, script),
      streamFunction: withIdleWatchdog(createScriptedStream(script, start)),
      conditions: script.conditions,
    };
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}
