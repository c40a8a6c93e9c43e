import { type Environment, ensureDiligentDir, openRequestLog, type RequestLogFile } from "@diligent/core/run";
import { describeError } from "./describe-error.ts";
import type { Notice } from "./output/run-output.ts";
import { UsageError } from "./usage-error.ts";

/** @throws UsageError when there is no place for it: whoever asks for a log wants one. */
export function openLog(environment: Environment, sessionId: string): RequestLogFile {
  try {
    return openRequestLog(environment, sessionId);
  } catch (error) {
    throw new UsageError(`--verbose: the log cannot be written: ${describeError(error)}`);
  }
}

/** Makes the place where sessions are kept; where that cannot be done, nothing is saved, which is noted. */
export async function preparePlace(root: string): Promise<{ isSaved: boolean; notices: Notice[] }> {
  try {
    await ensureDiligentDir(root);
    return { isSaved: true, notices: [] };
  } catch (error) {
    const reason = describeError(error);
    const message = `Nothing of this session is saved: ${reason}`;
    return { isSaved: false, notices: [{ level: "warning", code: "not_saved", message }] };
  }
}
