import { resolve } from "node:path";
import { type SessionEntry, withIdleWatchdog } from "@diligent/core/run";
import { createScriptedStream, findStart, readScript, scriptedModel } from "@diligent/core/scripted";
import type { ModelChoice } from "./choose-model.ts";
import { describeError } from "./describe-error.ts";
import { UsageError } from "./usage-error.ts";

/**
 * The model that plays a script.
 * @param scriptPath absolute, or relative to `cwd`.
 * @param conversation where it is played, and the entries of the conversation that it goes on with.
 * @throws UsageError when the file cannot be read or is no script.
 */
export async function openScript(
  scriptPath: string,
  { cwd, path: played = [] }: { cwd: string; path?: readonly SessionEntry[] | undefined },
): Promise<ModelChoice> {
  try {
    const script = await readScript(resolve(cwd, scriptPath));
    const messages = played.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const summaries = played.filter(({ type }) => type === "compaction").length;
    // A new conversation begins at the first turn, which the provider finds by itself.
    const start = played.length > 0 ? findStart(script, { messages, summaries }) : {};
    return {
      model: scriptedModel(scriptPath, script),
      streamFunction: withIdleWatchdog(createScriptedStream(script, start)),
    };
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}
