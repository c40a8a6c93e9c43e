import type { WatchConnection } from "../../infrastructure/network/connection.ts";
import { type Hook, type HookEvent, holdsCondition, isMatched } from "./hook-settings.ts";
import { type HookInput, type HookReply, type HookRun, type RunHookProgram, runHook } from "./run-hook.ts";

/** A call or another subject that hooks are asked about. */
interface HookCall {
  /** One of our tools, or the kind of the event; undefined for events without either. */
  subject?: string | undefined;
  /** The arguments of a call. */
  input?: unknown;
  /** What the hooks are told besides the session. */
  fields: HookInput;
  signal: AbortSignal;
}

/** The session of hooks. */
interface SessionHooksOptions {
  hooks: readonly Hook[];
  run: RunHookProgram;
  /** Receives the connections of hooks that are addresses. */
  watch?: WatchConnection | undefined;
  /** What every hook is told. */
  describeSession(): HookInput;
  /** Called when a hook has run. */
  onRun(run: HookRun): void;
}

/** The hooks of one session: those that match run side by side, and the strictest decision counts. */
export class SessionHooks {
  constructor(private readonly options: SessionHooksOptions) {}

  has(event: HookEvent): boolean {
    return this.options.hooks.some((hook) => hook.event === event);
  }

  /** Runs the hooks of an event. Never rejects. */
  async dispatch(event: HookEvent, { subject, input, fields, signal }: HookCall): Promise<HookReply> {
    const { hooks, run, watch, describeSession, onRun } = this.options;
    const matching = hooks.filter(
      (hook) =>
        hook.event === event &&
        isMatched(hook, subject) &&
        (subject === undefined || holdsCondition(hook.condition, subject, input)),
    );
    if (matching.length === 0) return {};
    const told = { ...describeSession(), hook_event_name: event, ...fields };
    const runs = await Promise.all(
      matching.map(async (hook) => {
        const ended = await runHook(hook, told, { run, signal, watch });
        onRun(ended);
        return ended;
      }),
    );
    return combine(runs);
  }
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2, block: 2 } as const;

/**
 * The strictest decision with its reason. Contexts are joined. Only the user's hooks may allow, and only what they were
 * told of: not the arguments that a hook of the project puts in their place.
 */
function combine(runs: readonly HookRun[]): HookReply {
  const replies = runs.map(({ hook, reply }) =>
    reply.decision === "allow" && !hook.isUsers ? { ...reply, decision: undefined } : reply,
  );
  const decided = replies.filter(({ decision }) => decision !== undefined);
  const strictest = decided.reduce<HookReply | undefined>((worst, reply) => {
    if (!worst?.decision || !reply.decision) return worst ?? reply;
    return STRICTNESS[reply.decision] > STRICTNESS[worst.decision] ? reply : worst;
  }, undefined);
  const join = (texts: readonly (string | undefined)[]) =>
    texts.filter((text) => text !== undefined).join("\n") || undefined;
  const rewriting = runs.findLast(({ reply }) => reply.updatedInput !== undefined);
  const isOthersInput = rewriting !== undefined && !rewriting.hook.isUsers;
  return {
    decision: strictest?.decision === "allow" && isOthersInput ? undefined : strictest?.decision,
    reason: strictest?.reason,
    endsTurn: strictest?.endsTurn,
    context: join(replies.map(({ context }) => context)),
    message: join(replies.map(({ message }) => message)),
    updatedInput: rewriting?.reply.updatedInput,
  };
}
