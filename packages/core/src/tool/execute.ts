import { z } from "zod";
import { INTERRUPTED, NOT_STARTED } from "../history.ts";
import { monotonicMs } from "../infrastructure/runtime.ts";
import type { ToolCallBlock, ToolCallOutcome, ToolResultMessage } from "../types.ts";
import type { ToolRegistry } from "./registry.ts";
import { isSameInput, toToolResultMessage, truncateResult, withDuration, withPreface } from "./result.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  AskedCall,
  KeepOutput,
  Preview,
  Redactor,
  SharedRun,
  Tool,
  ToolContext,
  ToolResult,
} from "./types.ts";

// How long an aborted tool may take to report its partial result; the user is waiting for the prompt.
const ABORT_GRACE_MS = 900;

/** Once a call has ended, an abandoned tool can neither ask nor send updates. */
export interface ToolExecutionOptions {
  signal: AbortSignal;
  /** `call` is left out when a tool asks while it runs: those arguments cannot be changed. */
  decide(request: ApprovalRequest, call?: AskedCall): Promise<ApprovalDecision>;
  /** See `AgentLoopConfig.beforeCall`. */
  advise?(
    toolName: string,
    input: Record<string, unknown>,
  ): Promise<
    | {
        refusal?: string | undefined;
        input?: Record<string, unknown> | undefined;
        verdict?: { action: "allow" | "ask"; reason: string } | undefined;
      }
    | undefined
  >;
  /** Called before the call runs with arguments other than the model's. */
  onInput?(input: Record<string, unknown>): void;
  /** Called when a tool has run a call of another one; see `ToolContext.perform`. */
  onPerformed?(call: {
    toolName: string;
    input: Record<string, unknown>;
    output: string;
    isError: boolean;
  }): void;
  onUpdate?(partialResult: string): void;
  keepOutput?: KeepOutput | undefined;
  /** Redacts secrets in what the call shows and returns. */
  redactor?: Redactor | undefined;
  /** Awaited before a tool runs that is not read-only, once the call is allowed. */
  beforeChange?(): Promise<void>;
  /** See `ToolContext`. */
  run?: Omit<SharedRun, "reject"> | undefined;
}

/** The outcome of a call: for the model, and as `metadata` for a renderer. */
interface ToolExecution {
  message: ToolResultMessage;
  metadata?: Record<string, unknown> | undefined;
  /** Set when the call was not allowed to run. */
  rejection?: ApprovalDecision | undefined;
}

/**
 * The only function that runs a tool call: it validates, asks, runs, redacts and truncates. It never rejects: every
 * failure becomes an error result that the model can fix. The metadata's `durationMs` is its run time without the wait
 * for approval, set from one second up.
 */
export async function executeToolCall(
  call: ToolCallBlock,
  registry: ToolRegistry,
  options: ToolExecutionOptions,
): Promise<ToolExecution> {
  const { redactor } = options;
  const rejections: ApprovalDecision[] = [];
  const startedAt = monotonicMs();
  let askedMs = 0;
  let isOver = false;
  const decide = async (request: ApprovalRequest, asked?: AskedCall) => {
    // An abandoned tool may still ask, but its result is no longer awaited.
    if (options.signal.aborted || isOver) return STOPPED;
    const askedAt = monotonicMs();
    const decision = await orAborted(options.decide(request, asked), options.signal, 0);
    askedMs += monotonicMs() - askedAt;
    if (decision?.response === "reject") rejections.push(decision);
    return decision ?? STOPPED;
  };
  const onUpdate = (partialResult: string) => {
    if (!isOver) options.onUpdate?.(redactor?.redactPart(partialResult) ?? partialResult);
  };
  const reject = (decision: ApprovalDecision) => void rejections.push(decision);
  const returned = await runToEnd(call, registry, { ...options, decide, onUpdate, reject });
  // A tool that changes files repeats the model's own words.
  if (!registry.find(call.name)?.changesFiles) redactor?.noteForeign?.(returned.result.output);
  const ended = redactor?.redact(returned) ?? returned;
  isOver = true;
  const [rejection] = rejections;
  const outcome = ended.outcome ?? outcomeOf(rejection);
  const timed = withDuration(ended.result, monotonicMs() - startedAt - askedMs);
  const result = truncateResult(timed, { call, registry, keepOutput: options.keepOutput });
  const message = toToolResultMessage(call, withPreface(result, call, ended.ranWith), outcome);
  return {
    message: { ...message, ...(ended.ranWith && { input: ended.ranWith }) },
    metadata: result.metadata,
    rejection,
  };
}

const STOPPED: ApprovalDecision = { response: "reject", message: NOT_STARTED, skipped: true };

/** The options with what the call itself adds. */
type CallOptions = ToolExecutionOptions & Pick<SharedRun, "reject">;

/** How a call ended; `outcome` if it is known and the result is an error. */
interface EndedCall {
  result: ToolResult;
  outcome?: ToolCallOutcome;
  /** The arguments it ran with, if they differ from the model's. */
  ranWith?: Record<string, unknown> | undefined;
}

async function runToEnd(
  call: ToolCallBlock,
  registry: ToolRegistry,
  options: CallOptions,
): Promise<EndedCall> {
  try {
    return await runValidated(call, registry, options);
  } catch (error) {
    return toErrorResult(error, options.signal);
  }
}

/** The outcome of an error without further information. */
function outcomeOf(rejection: ApprovalDecision | undefined): ToolCallOutcome {
  if (!rejection) return "failed";
  return rejection.skipped ? "skipped" : "rejected";
}

async function runValidated(
  call: ToolCallBlock,
  registry: ToolRegistry,
  options: CallOptions,
): Promise<EndedCall> {
  const tool = registry.find(call.name);
  if (!tool) return failure(`There is no tool "${call.name}". The tools are: ${registry.names.join(", ")}.`);
  if (call.invalidInput !== undefined) return failure(invalidJson(call.invalidInput));
  const parsed = tool.parameters.safeParse(call.input);
  if (!parsed.success) {
    return failure(
      `Invalid arguments for ${call.name}, so it was not run:\n${z.prettifyError(parsed.error)}`,
    );
  }
  if (options.signal.aborted) return failure(NOT_STARTED, "skipped");
  const advice = await options.advise?.(call.name, call.input);
  if (options.signal.aborted) return failure(NOT_STARTED, "skipped");
  if (advice?.refusal !== undefined) return failure(advice.refusal, "rejected");
  const advised = advice?.input && tool.parameters.safeParse(advice.input);
  if (advised?.success === false)
    return failure(`The arguments that a hook gave it are invalid:\n${z.prettifyError(advised.error)}`);
  const args = advised?.data ?? parsed.data;
  const { verdict } = advice ?? {};
  const request =
    approvalRequest(tool, args) ?? (verdict?.action === "ask" ? generalRequest(tool, args) : undefined);
  const decision =
    request && (await options.decide(request, { ...toAskedCall(tool, call, args), advice: verdict }));
  if (decision?.response === "reject") {
    return failure(decision.message ?? "The user rejected this call.", outcomeOf(decision));
  }
  const { withholds: isWithheld, tries: isTried, insertsSecrets } = decision ?? {};
  const run = { call, registry, options, isWithheld, isTried, insertsSecrets };
  const input = decision?.input ?? advice?.input;
  if (input === undefined || isSameInput(input, call.input)) return runTool(tool, parsed.data, run);
  return runRevised(tool, input, run);
}

interface PermittedRun {
  call: ToolCallBlock;
  registry: ToolRegistry;
  options: CallOptions;
  isWithheld: ToolContext["isWithheld"];
  isTried: ToolContext["isTried"];
  insertsSecrets: ToolContext["insertsSecrets"];
}

/** Whatever the outcome, the result records that the call ran with other arguments. */
async function runRevised(tool: Tool, input: Record<string, unknown>, run: PermittedRun): Promise<EndedCall> {
  const { options } = run;
  const parsed = tool.parameters.safeParse(input);
  if (!parsed.success) {
    const problems = z.prettifyError(parsed.error);
    return failure(`The user's edited arguments are invalid, so it was not run:\n${problems}`);
  }
  let hasStarted = false;
  const onStart = () => {
    hasStarted = true;
    options.onInput?.(input);
  };
  const ended = await runTool(tool, parsed.data, { ...run, onStart }).catch((error: unknown) =>
    toErrorResult(error, options.signal),
  );
  return hasStarted ? { ...ended, ranWith: input } : ended;
}

async function runTool(
  tool: Tool,
  args: Record<string, unknown>,
  { call, registry, options, onStart, ...permitted }: PermittedRun & { onStart?: () => void },
): Promise<EndedCall> {
  const context: ToolContext = {
    toolCallId: call.id,
    signal: options.signal,
    approve: async (request) => (await context.decide?.(request))?.response ?? "reject",
    async decide(request) {
      const decision = await options.decide(request);
      // A running call has started with the approved arguments: others cannot replace them.
      return decision.input === undefined ? decision : { response: "reject" };
    },
    ...permitted,
    run: options.run && { ...options.run, reject: options.reject },
    async perform(toolName, input) {
      if (!registry.find(toolName)) return undefined;
      const { result } = await runToEnd({ ...call, name: toolName, input }, registry, options);
      options.onPerformed?.({ toolName, input, output: result.output, isError: result.isError ?? false });
      return result;
    },
    ...(options.onUpdate && { onUpdate: options.onUpdate }),
  };
  if (!tool.readOnly && options.beforeChange) {
    await orAborted(options.beforeChange(), options.signal, 0);
    if (options.signal.aborted) return failure(NOT_STARTED, "skipped");
  }
  onStart?.();
  const result = await orAborted(tool.execute(args, context), options.signal, ABORT_GRACE_MS);
  if (!result) return failure(INTERRUPTED, "interrupted");
  return options.signal.aborted ? { result, outcome: "interrupted" } : { result };
}

function approvalRequest(tool: Tool, args: Record<string, unknown>): ApprovalRequest | undefined {
  if (tool.approval) return tool.approval(args);
  return generalRequest(tool, args);
}

function generalRequest(tool: Tool, args: Record<string, unknown>): ApprovalRequest {
  return { permission: "execute", toolName: tool.name, description: tool.name, details: args };
}

function toAskedCall(tool: Tool, { input }: ToolCallBlock, args: Record<string, unknown>): AskedCall {
  return {
    preview: toPreview(tool, args),
    input,
    revise(changes) {
      const revised = { ...input, ...changes };
      const parsed = tool.parameters.safeParse(revised);
      const request = parsed.success ? approvalRequest(tool, parsed.data) : undefined;
      if (!parsed.success || !request) return undefined;
      return { input: revised, request, preview: toPreview(tool, parsed.data) };
    },
  };
}

function toPreview(tool: Tool, args: Record<string, unknown>): Preview | undefined {
  if (!tool.preview) return undefined;
  // If no diff can be computed, the call itself reports the reason once it is allowed.
  return async () => tool.preview?.(args).catch(() => undefined);
}

/** The promise's value, or undefined once `signal` has been aborted for `graceMs`. */
async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  graceMs: number,
): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(aborted.resolve, graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function failure(output: string, outcome?: ToolCallOutcome): EndedCall {
  return { result: { output, isError: true }, ...(outcome && { outcome }) };
}

function toErrorResult(error: unknown, signal: AbortSignal): EndedCall {
  if (signal.aborted) return failure(INTERRUPTED, "interrupted");
  return failure(error instanceof Error ? error.message : String(error));
}

function invalidJson(raw: string): string {
  const shown = raw.length > 200 ? `${raw.slice(0, 200).toWellFormed()}…` : raw;
  return `The arguments are not a JSON object, so the call was not run. Received: ${shown}`;
}
