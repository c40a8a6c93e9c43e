import type { z } from "zod";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { JobKillParameters, JobOutputParameters } from "./parameters.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, as `jobOutputParameters` lets them through. */
export type JobOutputArguments = z.output<JobOutputParameters>;

/** Whether the model is told of the tools for commands in the background. */
export interface JobToolOptions {
  /** False where a model's window has no room for their descriptions; they can still be called. */
  offersJobs?: boolean;
}

/** The tools for commands in the background; none where there are no such commands. */
export function createJobTools(workspace: Workspace, { offersJobs = true }: JobToolOptions = {}): Tool[] {
  const { jobs } = workspace;
  if (jobs === undefined) return [];
  const deps = { workspace, jobs, isOffered: () => offersJobs };
  return [createJobOutputTool(deps), createJobKillTool(deps)];
}

interface JobToolDeps {
  workspace: Workspace;
  jobs: SessionJobs;
  isOffered(): boolean;
}

function createJobOutputTool({ workspace, jobs, isOffered }: JobToolDeps): Tool<JobOutputParameters> {
  return {
    name: "job_output",
    description: "What a job has printed since the last call, and [running] or [exit N].",
    get parameters() {
      return loadParameters().jobOutputParameters;
    },
    inputSchema: INPUT_SCHEMAS.job_output,
    goesWith: "bash",
    isOffered,
    readOnly: true,
    approval: () => undefined,
    waits: () => true,
    async execute(args, { signal }) {
      const { readJob } = await import("./shell/read-job.ts");
      return readJob(jobs.find(args.id), args, { workspace, signal });
    },
  };
}

function createJobKillTool({ jobs, isOffered }: JobToolDeps): Tool<JobKillParameters> {
  return {
    name: "job_kill",
    description: "Ends a job with everything it started.",
    get parameters() {
      return loadParameters().jobKillParameters;
    },
    inputSchema: INPUT_SCHEMAS.job_kill,
    goesWith: "bash",
    isOffered,
    readOnly: true,
    approval: () => undefined,
    async execute({ id }) {
      const job = jobs.find(id);
      if (!job.isRunning) return { output: `Job ${job.id} has ended already [${job.describeState()}].` };
      if (!(await job.end())) throw new Error(`Not all of job ${job.id} could be ended. Try again.`);
      job.isEndKnown = true;
      return {
        output: `Job ${job.id} was ended: ${job.command}`,
        metadata: { jobId: job.id, jobState: job.state },
      };
    },
  };
}
