import type { JobUpdate } from "../jobs/job.ts";
import { JOB_END_NOTICE, LOST_JOBS_NOTICE, SessionJobs } from "../jobs/session-jobs.ts";
import type { SessionEntry } from "../session/types.ts";
import { promptText } from "../types.ts";

/**
 * The jobs of a session; none run yet. Their numbers continue those of the session's entries, and the model is told once
 * which of the earlier ones have ended with it.
 * @param report called with each update.
 */
export function openJobs(entries: readonly SessionEntry[], report: (update: JobUpdate) => void): SessionJobs {
  const earlier = findEarlierJobs(entries);
  const jobs = new SessionJobs({
    firstNumber: Math.max(0, ...earlier.map(({ id }) => Number(id))) + 1,
    lostIds: earlier.filter(({ isEndKnown }) => !isEndKnown).map(({ id }) => id),
  });
  jobs.subscribe(report);
  return jobs;
}

interface EarlierJob {
  id: string;
  /** The model was told that it has ended, or that it outlives the session. */
  isEndKnown: boolean;
}

function findEarlierJobs(entries: readonly SessionEntry[]): EarlierJob[] {
  const jobs = new Map<string, EarlierJob>();
  const end = (id: string) => jobs.set(id, { id, isEndKnown: true });
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "tool_result") {
      const { jobId, jobState = "running", isDetached } = message.metadata ?? {};
      if (typeof jobId !== "string" || !/^\d+$/.test(jobId)) continue;
      if (jobState !== "running" || isDetached === true) end(jobId);
      else if (!jobs.has(jobId)) jobs.set(jobId, { id: jobId, isEndKnown: false });
    } else if (message.role === "user") {
      const text = promptText(message);
      const ended = JOB_END_NOTICE.exec(text)?.[1] ?? LOST_JOBS_NOTICE.exec(text)?.[1];
      for (const id of ended?.split(", ") ?? []) end(id);
    }
  }
  return [...jobs.values()];
}
