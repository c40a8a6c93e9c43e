import type { AgentEvent } from "../agent/types.ts";
import { type DiligentPaths, makeDiligentDir } from "../infrastructure/diligent-dir.ts";
import type { Environment } from "../infrastructure/environment.ts";
import type { SessionPlace } from "./open-session.ts";
import { notSaved, RESTORED_SESSION, SHARED_SESSION } from "./session-notices.ts";

interface PlaceSettings {
  cwd: string;
  paths?: DiligentPaths | undefined;
  isSaved?: boolean | undefined;
  lockPlace?: Environment | undefined;
}

/** Where sessions are held and kept; what goes wrong there becomes a notice. */
export function toSessionPlace(
  { cwd, isSaved = true, lockPlace, paths }: PlaceSettings,
  warn: (notice: AgentEvent) => void,
): SessionPlace {
  return {
    cwd,
    lockPlace,
    sessionsDir: isSaved ? paths?.sessions : undefined,
    onFailure: (error) => warn(notSaved(error)),
    onForeignWrite: () => warn(SHARED_SESSION),
    onRestored: () => warn(RESTORED_SESSION),
    restoreDirectory: () => paths && makeDiligentDir(paths),
  };
}
