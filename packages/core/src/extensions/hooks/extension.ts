import { isAbsolute, resolve } from "node:path";
import type { CallAdvice, FinishedCall, RequestAnswer } from "../../agent/types.ts";
import type { LoadedConfig } from "../../config/loader.ts";
import type { ProjectTrust } from "../../config/trust-items.ts";
import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { promptText, type UserMessage } from "../../types.ts";
import type { Plugin } from "../definitions/plugin.ts";
import { describeHook, findHooks } from "./find-hooks.ts";
import { createHookRunner } from "./hook-program.ts";
import { type Hook, toHookName } from "./hook-settings.ts";
import type { HookInput, HookRun } from "./run-hook.ts";
import { SessionHooks } from "./session-hooks.ts";

const IDLE_AFTER_MS = 60_000;
// A hook that never lets a run end is ignored after so many times.
const MAX_STOP_BLOCKS = 8;
const MAX_SHOWN_RUNS = 50;

/** Where hooks are looked for. */
interface HookPlace {
  environment: Environment;
  loaded: LoadedConfig;
  trust(): Promise<ProjectTrust>;
  /** How long a user who is present may be silent after an answer until hooks are notified; a minute when left out. */
  idleAfterMs?: number | undefined;
  plugins(): Promise<{ active: readonly Plugin[] }>;
}

/** The hooks of the user, of the project and of plugins, in every session. */
export async function openHooks(place: HookPlace): Promise<HarnessExtension> {
  const { environment } = place;
  const { config, projectRoot: root } = place.loaded;
  const [{ active: plugins }, trust] = await Promise.all([place.plugins(), place.trust()]);
  const { hooks, problems } = await findHooks({ root, environment, config, trust, plugins });
  const runs: HookRun[] = [];
  const pending = new Set<Promise<unknown>>();
  return {
    name: "hooks",
    commands: [
      {
        name: "hooks",
        description: "The hooks of this session, and how they ran",
        run: () => listHooks(hooks, problems, runs),
      },
    ],
    openSession(scope) {
      if (hooks.length === 0) return {};
      return openSessionHooks(hooks, scope, {
        inherited: config.inheritEnvironment,
        idleAfterMs: place.idleAfterMs ?? IDLE_AFTER_MS,
        onRun: (run) => void runs.push(run),
        track(work) {
          pending.add(work);
          void work.finally(() => pending.delete(work));
        },
      });
    },
    settle: async () => void (await Promise.all(pending)),
    close() {},
  };
}

function listHooks(hooks: readonly Hook[], problems: readonly string[], runs: readonly HookRun[]): string {
  const known = hooks.map((hook) => `  ${hook.event}  ${describeHook(hook)} (${hook.source})`);
  const ran = runs
    .slice(-MAX_SHOWN_RUNS)
    .map(({ hook, outcome, durationMs, problem }) =>
      [`  ${hook.event}  ${outcome}, ${durationMs} ms: ${describeHook(hook)}`, problem]
        .filter(Boolean)
        .join(": "),
    );
  return [
    ...(known.length === 0 ? ["No hooks are active."] : ["Hooks", "", ...known]),
    ...problems.map((problem) => `  not used: ${problem}`),
    ...(ran.length === 0 ? [] : ["", "Their last runs", "", ...ran]),
  ].join("\n");
}

interface HookDeps {
  inherited: readonly string[] | undefined;
  idleAfterMs: number;
  onRun(run: HookRun): void;
  /** Called with what nobody waits for. */
  track(work: Promise<unknown>): void;
}

function openSessionHooks(hooks: readonly Hook[], scope: SessionScope, deps: HookDeps): SessionAddition {
  const ended = new AbortController();
  const session = new SessionHooks({
    hooks,
    run: createHookRunner(scope, deps.inherited),
    watch: (...connection) => scope.traffic?.watch(...connection),
    describeSession: () => describeSession(scope),
    onRun(run) {
      deps.onRun(run);
      const { hook, durationMs, outcome, problem } = run;
      const command = hook.action.type === "command" ? hook.action.command : hook.action.url;
      const facts = {
        event: hook.event,
        command,
        durationMs,
        outcome,
        ...(problem !== undefined && { problem }),
      };
      scope.session()?.noteHook(facts);
    },
  });
  const { agent } = scope;
  /** For events whose hooks cannot decide anything. */
  const notify = (event: Hook["event"], fields: HookInput, subject?: string) => {
    if (session.has(event)) deps.track(session.dispatch(event, { subject, fields, signal: ended.signal }));
  };
  let idle: ReturnType<typeof setTimeout> | undefined;
  const waitForUser = () => {
    clearTimeout(idle);
    if (agent || !scope.isAttended || !session.has("Notification")) return;
    const kind = "idle_prompt";
    const fields = { message: "diligent is waiting for your input", notification_type: kind };
    idle = setTimeout(() => notify("Notification", fields, kind), deps.idleAfterMs);
    idle.unref();
  };
  let hasStarted = false;
  let isCompacted = false;
  let stopBlocks = 0;
  let trigger: "manual" | "auto" = "auto";
  const start = async (signal: AbortSignal): Promise<string | undefined> => {
    if (hasStarted) return undefined;
    hasStarted = true;
    if (agent)
      return (await session.dispatch("SubagentStart", { subject: agent.name, fields: {}, signal })).context;
    const source = isCompacted ? "compact" : scope.beginning;
    return (await session.dispatch("SessionStart", { subject: source, fields: { source }, signal })).context;
  };
  const stop = agent ? ("SubagentStop" as const) : ("Stop" as const);
  return {
    ...(session.has("PreToolUse") && {
      beforeCall: (call, signal) => adviseCall(session, scope, call, signal),
    }),
    ...((session.has("PermissionRequest") || session.has("Notification")) && {
      answerRequest: (call, signal) => answerRequest(session, { scope, notify, call, signal }),
    }),
    ...((session.has("PostToolUse") || session.has("PostToolUseFailure")) && {
      afterCall: (call, signal) => noteCall(session, scope, call, signal),
    }),
    checkPrompt(message, signal = ended.signal) {
      stopBlocks = 0;
      const isStarting = !hasStarted && session.has(agent ? "SubagentStart" : "SessionStart");
      if (!isStarting && !session.has("UserPromptSubmit")) return undefined;
      return checkPrompt(message, { session, start: () => start(signal), signal });
    },
    ...(session.has(stop) && {
      async reviewAnswer(answer, signal) {
        if (stopBlocks >= MAX_STOP_BLOCKS) return undefined;
        const fields = { stop_hook_active: stopBlocks > 0, last_assistant_message: answer };
        const { decision, reason, context } = await session.dispatch(stop, {
          ...{ subject: agent?.name, fields, signal },
        });
        const isBlocked = decision === "block" || decision === "deny";
        if (!isBlocked && context === undefined) return undefined;
        stopBlocks += 1;
        return frame(stop, [reason, context]);
      },
    }),
    onEvent(event) {
      if (event.type === "agent_start") clearTimeout(idle);
      if (event.type === "agent_end") waitForUser();
      if (event.type === "compaction_start") {
        trigger = event.trigger === "manual" ? "manual" : "auto";
        notify("PreCompact", { trigger, custom_instructions: event.focus ?? "" }, trigger);
      }
      if (event.type !== "compaction_end") return;
      notify("PostCompact", { trigger, compact_summary: event.summary }, trigger);
      // What was said at its start is not in the context any more.
      if (!agent) [hasStarted, isCompacted] = [false, true];
    },
    close(reason) {
      clearTimeout(idle);
      if (!agent) notify("SessionEnd", { reason }, reason);
    },
  };
}

function describeSession(scope: SessionScope): HookInput {
  const { agent, cwd, sessionId } = scope;
  return {
    session_id: sessionId,
    transcript_path: scope.session()?.sessionPath ?? null,
    cwd,
    permission_mode: scope.mode(),
    ...(agent && { agent_id: sessionId, agent_type: agent.name }),
  };
}

/** What other programs say is data: the model is told where it comes from. */
function frame(event: string, texts: readonly (string | undefined)[]): string | undefined {
  const text = texts.filter((each) => each !== undefined && each !== "").join("\n");
  if (text === "") return undefined;
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `  ${line}`);
  return [`[The ${event} hook says:`, ...lines, "]"].join("\n");
}

function toHookInput(input: Record<string, unknown>, { cwd }: SessionScope): Record<string, unknown> {
  const { file_path: path } = input;
  return typeof path === "string" && !isAbsolute(path) ? { ...input, file_path: resolve(cwd, path) } : input;
}

async function adviseCall(
  session: SessionHooks,
  scope: SessionScope,
  { toolCallId, toolName, input }: FinishedCall,
  signal: AbortSignal,
): Promise<CallAdvice | undefined> {
  const told = toHookInput(input, scope);
  const fields = { tool_name: toHookName(toolName), tool_input: told, tool_use_id: toolCallId };
  const reply = await session.dispatch("PreToolUse", { subject: toolName, input: told, fields, signal });
  const { decision, reason = "no reason given", updatedInput } = reply;
  if (decision === "deny" || decision === "block") return { refusal: `Refused by a hook: ${reason}` };
  if (decision === undefined && updatedInput === undefined) return undefined;
  return {
    input: updatedInput,
    ...(decision && {
      verdict: { action: decision, reason: `a hook ${decision === "ask" ? "asks" : "allows it"}: ${reason}` },
    }),
  };
}

async function noteCall(
  session: SessionHooks,
  scope: SessionScope,
  { toolCallId, toolName, input, output, isError }: FinishedCall & { output: string; isError: boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  const event = isError ? "PostToolUseFailure" : "PostToolUse";
  if (!session.has(event)) return undefined;
  const told = toHookInput(input, scope);
  const fields = {
    ...{ tool_name: toHookName(toolName), tool_input: told, tool_use_id: toolCallId },
    ...(isError ? { error: output } : { tool_response: output }),
  };
  const { decision, reason, context } = await session.dispatch(event, {
    ...{ subject: toolName, input: told, fields, signal },
  });
  return frame(event, [decision === "block" || decision === "deny" ? reason : undefined, context]);
}

async function checkPrompt(
  message: UserMessage,
  {
    session,
    start,
    signal,
  }: { session: SessionHooks; start(): Promise<string | undefined>; signal: AbortSignal },
): Promise<{ refusal?: string; context?: string }> {
  const started = await start();
  const fields = { prompt: promptText(message) };
  const { decision, reason, context } = await session.dispatch("UserPromptSubmit", { fields, signal });
  if (decision === "block" || decision === "deny")
    return { refusal: `A hook blocked this prompt${reason === undefined ? "." : `: ${reason}`}` };
  const note = [frame("SessionStart", [started]), frame("UserPromptSubmit", [context])].filter(
    (text) => text,
  );
  return note.length === 0 ? {} : { context: note.join("\n") };
}

/** Asked before the user is; what no hook decides is put to the user, who is notified if there is one. */
async function answerRequest(
  session: SessionHooks,
  {
    scope,
    notify,
    call,
    signal,
  }: { scope: SessionScope; notify: Notify; call: FinishedCall; signal: AbortSignal },
): Promise<RequestAnswer | undefined> {
  const { toolName } = call;
  const input = toHookInput(call.input, scope);
  const fields = { tool_name: toHookName(toolName), tool_input: input };
  const reply = await session.dispatch("PermissionRequest", { subject: toolName, input, fields, signal });
  const { decision, reason = "no reason given", updatedInput, endsTurn } = reply;
  if (decision === "deny" || decision === "block") return { action: "deny", reason, endTurn: endsTurn };
  if (decision === "allow") return { action: "allow", reason, input: updatedInput };
  if (scope.isAttended && scope.mode() !== "deny") {
    const kind = "permission_prompt";
    const message = `${toHookName(toolName)} needs your permission`;
    notify("Notification", { message, notification_type: kind }, kind);
  }
  return undefined;
}

type Notify = (event: Hook["event"], fields: HookInput, subject?: string) => void;
