import { NOT_STARTED } from "../history.ts";
import { coerceCall } from "../tool/coerce-call.ts";
import { executeToolCall } from "../tool/execute.ts";
import { toToolResultMessage } from "../tool/result.ts";
import type { ApprovalDecision, ApprovalRequest, AskedCall } from "../tool/types.ts";
import { type AssistantMessage, type ToolCallBlock, type ToolResultMessage, toolCallsOf } from "../types.ts";
import type { LoopVerdict } from "./loop-detector.ts";
import type { Run } from "./run.ts";
import type { ApprovalHandle, FinishedCall, NoticeLevel } from "./types.ts";

/** The results of one reply's calls, in call order, and whether they end the run. */
interface ToolCallsOutcome {
  results: ToolResultMessage[];
  stop?: "approval" | "loop" | "aborted";
}

/**
 * Runs the calls of one reply: adjacent read-only calls in parallel, everything else sequentially. They end in call
 * order: a result is held back until all earlier ones have arrived.
 */
export async function runToolCalls(run: Run, message: AssistantMessage): Promise<ToolCallsOutcome> {
  const results: ToolResultMessage[] = [];
  let stop: ToolCallsOutcome["stop"];
  const calls = toolCallsOf(message).map((call) => coerceCall(call, run.tools.registry));
  for (const group of groupCalls(run, calls)) {
    if (run.signal.aborted) stop ??= "aborted";
    if (stop) {
      results.push(...group.map((call) => skipCall(run, call, SKIPPED[stop ?? "aborted"])));
      continue;
    }
    const outcomes = await runSideBySide(run, group, calls.at(-1));
    results.push(...outcomes.map(({ result }) => result));
    stop = outcomes.find((outcome) => outcome.stop)?.stop;
  }
  if (run.signal.aborted) stop = "aborted";
  return { results, ...(stop && { stop }) };
}

const SKIPPED = {
  approval: "Not run: the user ended the turn when another call was rejected.",
  loop: "Not run: the run was stopped because the same call kept giving the same result.",
  aborted: NOT_STARTED,
} as const;

/** Answers every call of a reply without running any. */
export function skipToolCalls(run: Run, message: AssistantMessage, reason: string): ToolResultMessage[] {
  return toolCallsOf(message).map((call) => skipCall(run, call, reason));
}

function groupCalls(run: Run, calls: ToolCallBlock[]): ToolCallBlock[][] {
  const groups: ToolCallBlock[][] = [];
  let readOnlyBefore = false;
  for (const call of calls) {
    const tool = run.tools.registry.find(call.name);
    const readOnly = (tool?.readOnly && !tool.runsAlone?.(call.input)) ?? false;
    const last = groups.at(-1);
    if (last && readOnly && readOnlyBefore) last.push(call);
    else groups.push([call]);
    readOnlyBefore = readOnly;
  }
  return groups;
}

function skipCall(run: Run, call: ToolCallBlock, reason: string): ToolResultMessage {
  const itemId = startItem(run, call);
  const result = toToolResultMessage(call, { output: reason, isError: true }, "skipped");
  endItem(run, itemId, { result });
  return result;
}

interface CallOutcome {
  result: ToolResultMessage;
  stop?: ToolCallsOutcome["stop"];
}

/**
 * All of them run at once. Only the order in which they end is fixed, so that the same calls give the same events.
 */
function runSideBySide(
  run: Run,
  calls: readonly ToolCallBlock[],
  last: ToolCallBlock | undefined,
): Promise<CallOutcome[]> {
  let before: Promise<unknown> = Promise.resolve();
  const outcomes = calls.map((call) => {
    const outcome = runToolCall(run, call, { before, isLast: call === last });
    before = outcome;
    return outcome;
  });
  return Promise.all(outcomes);
}

/**
 * @param place `before`: what must end before this call is reported as ended. `isLast`: whether it is the last call
 * of its reply.
 */
async function runToolCall(
  run: Run,
  call: ToolCallBlock,
  { before, isLast }: { before: Promise<unknown>; isLast: boolean },
): Promise<CallOutcome> {
  const itemId = startItem(run, call);
  let isChanging = false;
  const ended: (FinishedCall & { output: string; isError: boolean })[] = [];
  const notify = (level: NoticeLevel, code: string, message: string) => run.notice(level, code, message);
  const execution = await executeToolCall(call, run.tools.registry, {
    signal: run.signal,
    keepOutput: run.config.keepOutput,
    redactor: run.config.redactor,
    decide: (request, asked) => decide(run, request, { ...asked, toolCallId: call.id }),
    ...(run.config.beforeCall && {
      advise: async (toolName: string, input: Record<string, unknown>) =>
        run.config.beforeCall?.({ toolCallId: call.id, toolName, input }, run.signal),
    }),
    onPerformed: (performed) => void ended.push({ toolCallId: call.id, ...performed }),
    onInput: (input) =>
      run.emit({
        type: "tool_update",
        itemId,
        toolCallId: call.id,
        toolName: call.name,
        partialResult: "",
        input,
      }),
    run: {
      budget: run.budget,
      beforeChanges: () => run.tools.keepChanges(undefined, notify),
      afterChanges: () => run.config.changes?.afterChanges(),
      countChanges: async () => run.config.changes?.countChanges?.(),
    },
    async beforeChange() {
      isChanging = true;
      await run.tools.keepChanges(writtenPath(run, call), notify);
    },
    onUpdate: (partialResult) =>
      run.emit({
        type: "tool_update",
        itemId,
        toolCallId: call.id,
        toolName: call.name,
        partialResult,
      }),
  });
  const { message, metadata, rejection } = execution;
  ended.push({
    ...{ toolCallId: call.id, toolName: call.name, input: message.input ?? call.input },
    ...{ output: message.output, isError: message.isError },
  });
  let noted = message;
  for (const each of rejection ? [] : ended)
    noted = withNote(noted, await run.config.afterCall?.(each, run.signal));
  if (isChanging) run.config.changes?.afterChanges();
  await before;
  if (rejection?.unattended) run.tools.unattendedRejection = true;
  const verdict = await detectLoop(run, call, stableOutput(message.output, metadata));
  const result = withNote(withLoopNote(noted, verdict), isLast ? run.config.remind?.() : undefined);
  endItem(run, itemId, { result, metadata });
  return { result, ...(await stopAfter(run, { call, verdict, rejection })) };
}

async function detectLoop(run: Run, call: ToolCallBlock, result: string): Promise<LoopVerdict> {
  const { loopDetector, registry } = run.tools;
  if (registry.find(call.name)?.waits?.(call.input)) {
    loopDetector.reset();
    return { action: "none", repeats: 1 };
  }
  return loopDetector.observe(call, result, async () => run.config.changes?.countChanges?.());
}

/** The path that the call changes, if it changes exactly one file; undefined if it may change anything. */
function writtenPath(run: Run, { name, input }: ToolCallBlock): string | undefined {
  const { file_path: path } = input;
  return run.tools.registry.find(name)?.changesFiles && typeof path === "string" ? path : undefined;
}

async function stopAfter(
  run: Run,
  {
    call,
    verdict,
    rejection,
  }: { call: ToolCallBlock; verdict: LoopVerdict; rejection: ApprovalDecision | undefined },
): Promise<{ stop?: "approval" | "loop" }> {
  if (rejection?.endTurn) return { stop: "approval" };
  if (verdict.action === "none") return {};
  const times = `${call.name} gave the same result ${verdict.repeats} times in a row`;
  if (verdict.action === "warn") {
    run.notice("warning", "loop", `${times}; the model was told.`);
    return {};
  }
  if (await mayContinue(run, call, verdict.repeats)) {
    run.tools.loopDetector.reset();
    return {};
  }
  run.notice("error", "loop", `Stopped: ${times}.`);
  return { stop: "loop" };
}

async function mayContinue(run: Run, { id, name, input }: ToolCallBlock, repeats: number): Promise<boolean> {
  if (!run.config.approve || run.signal.aborted) return false;
  const request: ApprovalRequest = {
    permission: "execute",
    toolName: name,
    description: `${name}: continue after ${repeats} identical calls`,
    details: input,
  };
  return (await decide(run, request, { repeats, toolCallId: id })).response !== "reject";
}

async function decide(
  run: Run,
  request: ApprovalRequest,
  { input, ...asked }: Partial<AskedCall> & Pick<ApprovalHandle, "repeats" | "toolCallId">,
): Promise<ApprovalDecision> {
  if (!run.config.approve) return { response: "once" };
  const announce: ApprovalHandle["announce"] = (
    gate,
    { shown = request, mode, needed, choices = [] } = {},
  ) => {
    const requestId = run.nextItemId("approval");
    run.emit({
      type: "approval_request",
      requestId,
      request: shown,
      ...(asked.toolCallId !== undefined && { toolCallId: asked.toolCallId }),
      gate,
      ...(mode !== undefined && { mode }),
      ...(needed && { needed }),
      ...(choices.length > 0 && { choices }),
    });
    return requestId;
  };
  const { toolName, details = {} } = request;
  const call = { toolCallId: asked.toolCallId ?? "", toolName, input: input ?? details };
  const consult = async () => run.config.answerRequest?.(call, run.signal);
  const answer = await run.config.approve(request, { announce, ...asked, consult });
  return typeof answer === "string" ? { response: answer } : answer;
}

function startItem(run: Run, call: ToolCallBlock): string {
  const itemId = run.nextItemId("tool");
  const input = call.invalidInput ?? call.input;
  run.emit({ type: "tool_start", itemId, toolCallId: call.id, toolName: call.name, input });
  return itemId;
}

function endItem(
  run: Run,
  itemId: string,
  { result, metadata }: { result: ToolResultMessage; metadata?: Record<string, unknown> | undefined },
): void {
  run.keep(result);
  const { toolCallId, toolName, output, isError, outcome, input } = result;
  run.emit({
    type: "tool_end",
    itemId,
    toolCallId,
    toolName,
    output,
    isError,
    ...(outcome && { outcome }),
    ...(input && { input }),
    ...(metadata && { metadata }),
  });
}

/** Without the path of a saved output, which differs from call to call. */
function stableOutput(output: string, metadata: Record<string, unknown> | undefined): string {
  const path = metadata?.outputPath;
  return typeof path === "string" ? output.replaceAll(path, "") : output;
}

function withLoopNote(message: ToolResultMessage, { action, repeats }: LoopVerdict): ToolResultMessage {
  if (action === "none") return message;
  const note = `[This call has given this same result ${repeats} times. Repeating it will not help: do something else, or explain what blocks you.]`;
  return withNote(message, note);
}

function withNote(message: ToolResultMessage, note: string | undefined): ToolResultMessage {
  return note === undefined ? message : { ...message, output: `${message.output}\n\n${note}` };
}
