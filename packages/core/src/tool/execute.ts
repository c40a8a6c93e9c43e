import { z } from "zod";
import { sleep } from "../infrastructure/clock.ts";
import { INTERRUPTED, NOT_STARTED } from "../result-texts.ts";
import type { ToolCallBlock, ToolResultMessage } from "../types.ts";
import type { ToolRegistry } from "./registry.ts";
import { toToolResultMessage } from "./tool-result.ts";
import { truncateOutput, truncationNote } from "./truncation.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  KeepOutput,
  Preview,
  Tool,
  ToolContext,
  ToolResult,
} from "./types.ts";

// A tool that is told to stop gets this long to say what it has; the user is waiting for the prompt.
const ABORT_GRACE_MS = 900;

export interface ToolExecutionOptions {
  signal: AbortSignal;
  /** `preview` where the call can say beforehand what it would change. */
  decide(request: ApprovalRequest, preview?: Preview): Promise<ApprovalDecision>;
  onUpdate?(partialResult: string): void;
  keepOutput?: KeepOutput | undefined;
}

export interface ToolExecution {
  message: ToolResultMessage;
  metadata?: Record<string, unknown> | undefined;
  /** Set when the call was not allowed to run. */
  rejection?: ApprovalDecision | undefined;
}

/**
 * The one way a tool call is carried out: validate, ask, run, truncate. It never rejects: whatever goes wrong becomes
 * an error result that the model can mend.
 */
export async function executeToolCall(
  call: ToolCallBlock,
  registry: ToolRegistry,
  options: ToolExecutionOptions,
): Promise<ToolExecution> {
  const rejections: ApprovalDecision[] = [];
  let isOver = false;
  const decide = async (request: ApprovalRequest, preview?: Preview) => {
    // A tool that was left behind may still ask, but nobody waits for it any more.
    if (options.signal.aborted || isOver) return STOPPED;
    const decision = await orAborted(options.decide(request, preview), options.signal, 0);
    if (decision?.response === "reject") rejections.push(decision);
    return decision ?? STOPPED;
  };
  const onUpdate = (partialResult: string) => {
    if (!isOver) options.onUpdate?.(partialResult);
  };
  const result = await runToResult(call, registry, { ...options, decide, onUpdate });
  isOver = true;
  return { ...result, rejection: rejections[0] };
}

const STOPPED: ApprovalDecision = { response: "reject", message: NOT_STARTED };

async function runToResult(
  call: ToolCallBlock,
  registry: ToolRegistry,
  options: ToolExecutionOptions,
): Promise<ToolExecution> {
  let result: ToolResult;
  try {
    result = await runValidated(call, registry, options);
  } catch (error) {
    result = toErrorResult(error, options.signal);
  }
  const { output, metadata } = truncateResult(result, { call, registry, keepOutput: options.keepOutput });
  return { message: toToolResultMessage(call, { ...result, output }), metadata };
}

async function runValidated(
  call: ToolCallBlock,
  registry: ToolRegistry,
  options: ToolExecutionOptions,
): Promise<ToolResult> {
  const tool = registry.find(call.name);
  if (!tool) return failure(`There is no tool "${call.name}". The tools are: ${registry.names.join(", ")}.`);
  if (call.invalidInput !== undefined) return failure(invalidJson(call.invalidInput));
  const parsed = tool.parameters.safeParse(call.input);
  if (!parsed.success) {
    return failure(
      `Invalid arguments for ${call.name}, so it was not run:\n${z.prettifyError(parsed.error)}`,
    );
  }
  if (options.signal.aborted) return failure(NOT_STARTED);
  const request = approvalRequest(tool, parsed.data);
  const decision = request && (await options.decide(request, toPreview(tool, parsed.data)));
  if (decision?.response === "reject") return failure(decision.message ?? "The user rejected this call.");
  return runTool(tool, parsed.data, { call, options, isWithheld: decision?.withholds });
}

async function runTool(
  tool: Tool,
  args: Record<string, unknown>,
  {
    call,
    options,
    isWithheld,
  }: { call: ToolCallBlock; options: ToolExecutionOptions; isWithheld: ToolContext["isWithheld"] },
): Promise<ToolResult> {
  const context: ToolContext = {
    toolCallId: call.id,
    signal: options.signal,
    approve: async (request) => (await options.decide(request)).response,
    isWithheld,
    ...(options.onUpdate && { onUpdate: options.onUpdate }),
  };
  const result = await orAborted(tool.execute(args, context), options.signal, ABORT_GRACE_MS);
  return result ?? failure(INTERRUPTED);
}

function approvalRequest(tool: Tool, args: Record<string, unknown>): ApprovalRequest | undefined {
  if (tool.approval) return tool.approval(args);
  return { permission: "execute", toolName: tool.name, description: tool.name, details: args };
}

function toPreview(tool: Tool, args: Record<string, unknown>): Preview | undefined {
  if (!tool.preview) return undefined;
  // Why no diff can be made is said by the call itself, if it is allowed.
  return async () => tool.preview?.(args).catch(() => undefined);
}

/** The promise's value, or undefined once `signal` has been aborted for `graceMs`. */
async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  graceMs: number,
): Promise<T | undefined> {
  const settled = new AbortController();
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = () => sleep(graceMs, settled.signal).then(() => aborted.resolve(undefined));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    settled.abort();
    signal.removeEventListener("abort", onAbort);
  }
}

function failure(output: string): ToolResult {
  return { output, isError: true };
}

function toErrorResult(error: unknown, signal: AbortSignal): ToolResult {
  if (signal.aborted) return failure(INTERRUPTED);
  return failure(error instanceof Error ? error.message : String(error));
}

function invalidJson(raw: string): string {
  const shown = raw.length > 200 ? `${raw.slice(0, 200).toWellFormed()}…` : raw;
  return `The arguments are no JSON object, so the call was not run. Received: ${shown}`;
}

function truncateResult(
  result: ToolResult,
  {
    call,
    registry,
    keepOutput,
  }: { call: ToolCallBlock; registry: ToolRegistry; keepOutput?: KeepOutput | undefined },
): { output: string; metadata: ToolResult["metadata"] } {
  const keep = registry.find(call.name)?.keep ?? "head";
  const { text, omitted } = truncateOutput(result.output, keep);
  if (!omitted) return { output: withNote(result.output, result.note), metadata: result.metadata };
  const path = keepWhole(() => keepOutput?.(call.id, result.output));
  const note = truncationNote(omitted, keep, path);
  const output = keep === "head" ? `${text}\n${note}` : `${note}\n${text}`;
  const metadata = { ...result.metadata, ...(path !== undefined && { outputPath: path }) };
  return { output: withNote(output, result.note), metadata };
}

/** A result is worth more than the file it could not be kept in. */
function keepWhole(keep: () => string | undefined): string | undefined {
  try {
    return keep();
  } catch {
    // The note then names no file.
    return undefined;
  }
}

function withNote(output: string, note: string | undefined): string {
  return note === undefined ? output : `${output}\n${note}`;
}
