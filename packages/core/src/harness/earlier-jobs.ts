import { type EarlierJob, JOB_END_NOTICE, LOST_JOBS_NOTICE } from "../jobs/session-jobs.ts";
import type { SessionEntry } from "../session/types.ts";
import { promptText } from "../types.ts";

/** The jobs that the entries of a session mention. */
export function findEarlierJobs(entries: readonly SessionEntry[]): EarlierJob[] {
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
