import { nearestNames } from "../../infrastructure/nearest-name.ts";
import { addBackgroundWork } from "../../jobs/background-work.ts";
import type { SessionJobs } from "../../jobs/session-jobs.ts";
import type { ApprovalRequest, ServerToolDetails, ToolContext, ToolResult } from "../../tool/types.ts";
import { type ApprovedTools, hashTool } from "./approved-tools.ts";
import type { CatalogTool } from "./catalog.ts";
import type { ServerConnection } from "./connection.ts";
import type { ToolReference } from "./tool-names.ts";
import { type ResultFiles, toToolResult } from "./tool-result.ts";

/** What a call needs besides its server. */
export interface ServerCallContext {
  approved: ApprovedTools;
  /** The session's jobs: a long call becomes one. */
  jobs: SessionJobs;
  /** After how many milliseconds; undefined: only when the user asks for it. */
  jobAfterMs: number | undefined;
  files: ResultFiles;
  /** True while every request is allowed without a question. */
  isAutomatic(): boolean;
}

/** A call of a tool by its own name. */
export interface ServerCall extends ToolReference {
  /** The name by which the model knows it. */
  name: string;
  input: Record<string, unknown>;
}

/**
 * Waits for the server, asks for approval with what the server says about the tool now, and calls it.
 * @throws Error for the model.
 */
export async function callServerTool(
  connection: ServerConnection,
  call: ServerCall,
  { tool: context, ...deps }: ServerCallContext & { tool: ToolContext },
): Promise<ToolResult> {
  if (connection.state !== "ready") context.onUpdate?.(`Waiting for the server ${call.server}…`);
  await connection.ready(context.signal);
  const tools = connection.catalog?.tools ?? [];
  const tool = tools.find(({ name }) => name === call.tool);
  if (!tool) throw new Error(describeMissing(call, tools));
  const request = toRequest(connection, call, {
    tool,
    change: deps.approved.findChange(connection.definition.id, tool),
  });
  const decision = await context.decide?.(request);
  if (decision?.response === "reject")
    return { output: decision.message ?? "The user rejected this call.", isError: true };
  if (!deps.isAutomatic()) await deps.approved.add(connection.definition.id, tool);
  return callOrLeave(context, {
    ...deps,
    name: call.name,
    async run(signal) {
      const onProgress = (text: string) => context.onUpdate?.(text);
      const result = await connection.call(tool, call.input, { signal, onProgress });
      return toToolResult(result, { server: call.server, files: deps.files });
    },
  });
}

interface RunningCall extends Pick<ServerCallContext, "jobs" | "jobAfterMs"> {
  name: string;
  run(signal: AbortSignal): Promise<ToolResult>;
}

/** The result, or a note that the call continues as a job: after a while, or when the user moves it to the background. */
async function callOrLeave(
  { signal }: ToolContext,
  { jobs, jobAfterMs, name, run }: RunningCall,
): Promise<ToolResult> {
  const own = new AbortController();
  const abort = () => own.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const { leave, done } = jobs.enterForeground();
  const left = Promise.withResolvers<undefined>();
  const onLeave = () => left.resolve(undefined);
  if (leave.aborted) onLeave();
  leave.addEventListener("abort", onLeave, { once: true });
  const timer = jobAfterMs === undefined ? undefined : setTimeout(onLeave, jobAfterMs);
  const running = run(own.signal);
  try {
    const result = await Promise.race([running, left.promise]);
    if (result || !jobs.hasRoom) return await running;
    const job = addBackgroundWork(jobs, {
      title: name,
      report: running.then(({ output, isError = false }) => ({ text: output, isError })),
      stop: abort,
      isStopped: () => own.signal.aborted,
    });
    return {
      output: `The call takes long and continues as job ${job.id}. You are told when it has ended; job_output waits for it and gives its result, job_kill cancels it.`,
      metadata: { jobId: job.id },
    };
  } finally {
    clearTimeout(timer);
    done();
    signal.removeEventListener("abort", abort);
  }
}

function describeMissing({ server, tool }: ToolReference, tools: readonly CatalogTool[]): string {
  const nearest = nearestNames(
    tool,
    tools.map(({ name }) => name),
    3,
  );
  const hint = nearest.length === 0 ? "" : ` Did you mean ${nearest.join(" or ")}?`;
  return `The server ${server} has no tool ${JSON.stringify(tool)}.${hint}`;
}

function toRequest(
  { definition }: ServerConnection,
  { server, name, input }: ServerCall,
  { tool, change }: { tool: CatalogTool; change: string | undefined },
): ApprovalRequest {
  const details: ServerToolDetails = {
    server,
    tool: tool.name,
    name: name.replace(/^mcp__/, ""),
    arguments: input,
    definition: `${definition.id}-${hashTool(tool)}`,
    ...(isReading(definition, tool) && { isReading: true }),
    ...(change !== undefined && { change }),
  };
  return {
    permission: "mcp",
    toolName: name,
    description: `${name}: ${JSON.stringify(input).slice(0, 200).toWellFormed()}`,
    details: { ...details },
  };
}

/** Only a server that the user trusts is believed when it says that a tool changes nothing. */
export function isReading({ origin, setting }: ServerConnection["definition"], tool: CatalogTool): boolean {
  return origin === "user" && setting.trusted === true && tool.isReadOnly;
}
