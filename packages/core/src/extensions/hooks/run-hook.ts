import type { WatchConnection } from "../../infrastructure/network/connection.ts";
import { createProgramFetch } from "../../infrastructure/network/program-fetch.ts";
import { monotonicMs } from "../../infrastructure/runtime.ts";
import type { Hook } from "./hook-settings.ts";

/** What a hook is told; `hook_event_name` and further fields as Claude Code names them. */
export type HookInput = Readonly<Record<string, unknown>>;

/** What a hook has decided. */
export interface HookReply {
  /** `block` refuses: a call, a prompt, or the end of a run. */
  decision?: "allow" | "deny" | "ask" | "block" | undefined;
  /** For the model, and for the user. */
  reason?: string | undefined;
  /** Text for the model. */
  context?: string | undefined;
  /** Replaces the arguments of the call. */
  updatedInput?: Record<string, unknown> | undefined;
  /** For the user alone. */
  message?: string | undefined;
  /** With a denial: the run ends. */
  endsTurn?: boolean | undefined;
}

/** How one hook ran. */
export interface HookRun {
  hook: Hook;
  durationMs: number;
  outcome: "ok" | "blocked" | "failed" | "timeout";
  reply: HookReply;
  /** Why it failed, a clause. */
  problem?: string | undefined;
}

/** How a program of a hook ended. */
export interface ProgramEnd {
  /** Null if a signal ended it. */
  exitCode: number | null;
  isTimeout: boolean;
  /** The beginning of what it printed. */
  stdout: string;
  stderr: string;
}

/** Runs the command of a hook with the input on its stdin. @throws Error when it cannot be started. */
export type RunHookProgram = (
  command: string,
  options: { input: string; timeoutMs: number; signal: AbortSignal; pluginRoot?: string | undefined },
) => Promise<ProgramEnd>;

/** Runs a hook to its end or its time limit. Never rejects: a failure is an outcome. */
export async function runHook(
  hook: Hook,
  input: HookInput,
  { run, signal, watch }: { run: RunHookProgram; signal: AbortSignal; watch?: WatchConnection | undefined },
): Promise<HookRun> {
  const begin = monotonicMs();
  const body = JSON.stringify(input);
  const { action, timeoutMs, pluginRoot } = hook;
  const ended = await (action.type === "command"
    ? run(action.command, { input: body, timeoutMs, signal, pluginRoot })
    : post(action, body, { timeoutMs, signal, source: hook.source, watch })
  ).catch((error: unknown): ProgramEnd => {
    const stderr = error instanceof Error ? error.message : String(error);
    return { exitCode: -1, isTimeout: false, stdout: "", stderr };
  });
  return { hook, durationMs: Math.round(monotonicMs() - begin), ...evaluate(hook, ended) };
}

const MAX_RESPONSE_BYTES = 64 * 1024;

interface PostOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** Where the hook is defined. */
  source: string;
  watch: WatchConnection | undefined;
}

/** As the end of a program: an error status is a failure. */
async function post(
  { url, headers }: Extract<Hook["action"], { type: "http" }>,
  body: string,
  { timeoutMs, signal, source, watch }: PostOptions,
): Promise<ProgramEnd> {
  const send = createProgramFetch({ purpose: "hook", by: `a hook of ${source}`, watch });
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
      redirect: "error",
      signal: AbortSignal.any([limit, signal]),
    });
    const stdout = await readStart(response);
    if (response.ok) return { exitCode: 0, isTimeout: false, stdout, stderr: "" };
    return { exitCode: 1, isTimeout: false, stdout: "", stderr: `HTTP ${response.status}` };
  } catch (error) {
    if (limit.aborted) return { exitCode: null, isTimeout: true, stdout: "", stderr: "" };
    throw error;
  }
}

async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_RESPONSE_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES));
}

const MAX_TEXT_CHARS = 10_000;

function evaluate(
  { blocksOnFailure }: Hook,
  { exitCode, isTimeout, stdout, stderr }: ProgramEnd,
): Pick<HookRun, "outcome" | "reply" | "problem"> {
  const failure = isTimeout ? "it did not end within its time limit" : describeFailure(exitCode, stderr);
  if (exitCode === 2 && !isTimeout) {
    const given = toReply(stdout);
    const reason = given.reason ?? (shorten(stderr.trim()) || "a hook refused it");
    return { outcome: "blocked", reply: { ...given, decision: "block", reason } };
  }
  if (exitCode === 0 && !isTimeout) {
    const reply = toReply(stdout);
    const isBlocked = reply.decision === "deny" || reply.decision === "block";
    return { outcome: isBlocked ? "blocked" : "ok", reply };
  }
  const outcome = isTimeout ? ("timeout" as const) : ("failed" as const);
  const reply: HookReply = blocksOnFailure
    ? { decision: "block", reason: `its hook failed: ${failure}` }
    : {};
  return { outcome, reply, problem: failure };
}

function describeFailure(exitCode: number | null, stderr: string): string {
  const text = stderr.trim();
  const how =
    exitCode === null ? "it was killed" : exitCode === -1 ? "it could not run" : `exit code ${exitCode}`;
  return text === "" ? how : `${how}: ${shorten(text)}`;
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}…` : text;
}

/** JSON with a decision; any other text is context, which some events use. */
function toReply(stdout: string): HookReply {
  const text = stdout.trim();
  if (!text.startsWith("{")) return text === "" ? {} : { context: shorten(text) };
  const value = parse(text);
  if (!isRecord(value)) return { context: shorten(text) };
  const special = isRecord(value.hookSpecificOutput) ? value.hookSpecificOutput : {};
  const nested = isRecord(special.decision) ? special.decision : {};
  const decision = toDecision(special.permissionDecision ?? nested.behavior ?? value.decision);
  const reason = special.permissionDecisionReason ?? nested.message ?? value.reason ?? value.stopReason;
  const updated = special.updatedInput ?? nested.updatedInput;
  return {
    decision: value.continue === false ? "block" : decision,
    reason: toText(reason),
    context: toText(special.additionalContext ?? value.additionalContext),
    updatedInput: isRecord(updated) ? { ...updated } : undefined,
    message: toText(value.systemMessage),
    endsTurn: nested.interrupt === true || undefined,
  };
}

function toDecision(value: unknown): HookReply["decision"] {
  if (value === "approve" || value === "allow") return "allow";
  return value === "deny" || value === "ask" || value === "block" ? value : undefined;
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? shorten(value.trim()) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Then it is plain text.
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
