import { type StreamFunction, type Tool, withRequestLog, withRetry } from "@diligent/core/run";
import type { SessionOptions } from "./compose-session.ts";
import type { Notice } from "./output/run-output.ts";
import { openLog } from "./prepare-place.ts";
import { SessionCheckpoints } from "./undo/session-checkpoints.ts";

/** What stands around every request of a session: checkpoints, retries, a recording, a log. */
export interface SessionServices {
  checkpoints: SessionCheckpoints;
  notices: Notice[];
  wrap(stream: StreamFunction): StreamFunction;
  close(): void;
}

interface ServiceParts {
  sessionId: string;
  tools: readonly Tool[];
  currentEntryId(): string | undefined;
}

/** @throws UsageError when a log is asked for and there is no place for it. */
export function openServices(
  { cwd, environment, loaded, persist, isVerbose, recording, updates }: SessionOptions,
  { sessionId, tools, currentEntryId }: ServiceParts,
): SessionServices {
  const log = isVerbose ? openLog(environment, sessionId) : undefined;
  const checkpoints = new SessionCheckpoints({
    root: loaded.projectRoot,
    cwd,
    environment,
    sessionId,
    entryId: currentEntryId,
    isKept: persist,
    isChanging: tools.some(({ readOnly }) => !readOnly),
  });
  return {
    checkpoints,
    notices: log ? [describeLog(log.path)] : [],
    wrap(stream) {
      const logged = log ? withRequestLog(stream, log.write) : stream;
      const wrapped = checkpoints.preparation.wrap(withRetry(recording?.wrap(logged) ?? logged));
      return updates?.beside(wrapped, { url: loaded.config.updateUrl, note: log?.write }) ?? wrapped;
    },
    close() {
      checkpoints.close();
      log?.close();
    },
  };
}

function describeLog(path: string): Notice {
  return { level: "info", code: "request_log", message: `Every request and answer is written to ${path}` };
}
