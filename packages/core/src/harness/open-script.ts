import { resolve } from "node:path";
import { withIdleWatchdog } from "../provider/idle-watchdog.ts";
import { createScriptedStream, findStart, readScript, scriptedModel } from "../provider/scripted.ts";
import type { SessionEntry } from "../session/types.ts";
import { describeError, UsageError } from "./errors.ts";
import type { ModelChoice } from "./models.ts";

/**
 * The model that plays a script.
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
    };
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}
