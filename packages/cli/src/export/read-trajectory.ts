import { loadCatalog } from "@diligent/core/harness";
import {
  computeCost,
  type DiligentConfig,
  findLeafId,
  pathTo,
  type SecretRedactor,
} from "@diligent/core/run";
import { listSessions, readSessionFile, SessionFileError } from "@diligent/core/sessions";
import { type Trajectory, type TrajectorySession, toTrajectory } from "./trajectory.ts";

/** Where a session is exported. */
export interface TrajectorySurroundings {
  /** The directory with its sub-agents' sessions. */
  sessionsDirectory: string;
  redactor: SecretRedactor;
  /** For the prices of models. @throws UsageError if it is broken. */
  loadConfig(): Promise<DiligentConfig>;
}

/** A session as a trajectory, with its sub-agents' sessions from the disk. @throws like `toTrajectory`, and UsageError */
export async function readTrajectory(
  session: TrajectorySession,
  { sessionsDirectory, redactor, loadConfig }: TrajectorySurroundings,
): Promise<Trajectory> {
  const catalog = await loadCatalog(await loadConfig());
  const files = new Map((await listSessions(sessionsDirectory, { redactor })).map((info) => [info.id, info]));
  return toTrajectory(session, {
    costOf(usage, modelId) {
      const model = catalog.find(modelId);
      return model ? computeCost(usage, model) : null;
    },
    readSubAgent(sessionId) {
      const file = files.get(sessionId);
      if (!file) return undefined;
      try {
        const { header, entries } = readSessionFile(file.path, { redactor });
        return { header, entries, path: pathTo(entries, findLeafId(entries)), name: file.name };
      } catch (error) {
        if (error instanceof SessionFileError) return undefined;
        throw error;
      }
    },
  });
}
