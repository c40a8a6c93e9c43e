import type { AgentEvent, RunStopReason, SerializableError } from "../agent/types.ts";
import { type Environment, now, processEnvironment } from "../infrastructure/runtime.ts";
import { findKnownModel, inferProvider } from "../provider/models.ts";
import type { ApprovalRequest, ApprovalResponse, Tool } from "../tool/types.ts";
import { addUsage, EMPTY_USAGE, messageText, type Usage } from "../types.ts";
import { UsageError } from "./errors.ts";
import { createHarness } from "./harness.ts";
import { VENDORS } from "./models.ts";
import type { Harness, HarnessExtension, HarnessSession, ModelChoice } from "./types.ts";

/** The settings of an agent. */
export interface AgentOptions {
  /** An id or alias, `scripted/FILE`, or a custom model with its stream function. */
  model: string | ModelChoice;
  /** The directory to work in, absolute and real. */
  cwd: string;
  /** For a model of Anthropic or OpenAI; taken from the environment or the configuration when left out. */
  apiKey?: string | undefined;
  /** The environment variables; those of this process when left out. */
  environment?: Environment | undefined;
  /** Tools in addition to the built-in ones. */
  tools?: readonly Tool[] | undefined;
  /** False: only the tools of `tools` and of extensions. */
  builtinTools?: boolean | undefined;
  /** Answers requests that the policy does not decide; without it, such calls are refused. */
  approve?: ((request: ApprovalRequest) => ApprovalResponse | Promise<ApprovalResponse>) | undefined;
  extensions?: readonly HarnessExtension[] | undefined;
  /** True: the session is saved in the project, where `diligent --continue` finds it. */
  persist?: boolean | undefined;
}

/** The result of one prompt. */
export interface AgentReply {
  /** The text of the model's last message. */
  text: string;
  stopReason: RunStopReason;
  /** The tokens of all requests together. */
  usage: Usage;
  /** US dollars; null when the price of a model is unknown. */
  cost: number | null;
  /** The error that ended the run. */
  error?: SerializableError;
}

/** A conversation with a model that works in a directory. */
export interface Agent {
  /** Calls the listener with every event of every prompt, until the returned function is called. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
  /**
   * Sends a prompt and resolves when the run has ended; a failure is a `stopReason`.
   * @throws Error while another prompt is being answered.
   */
  prompt(text: string, options?: { signal?: AbortSignal }): Promise<AgentReply>;
  /** Ends the processes of its tools and removes its temporary files. */
  close(): Promise<void>;
}

/**
 * Composes an agent like the program `diligent`: configuration, instructions, knowledge, tools, approvals, sandbox.
 * @throws UsageError when it cannot be composed, for instance because of an unknown model or a missing key.
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const { cwd, model, apiKey, approve, environment = processEnvironment() } = options;
  const { tools, builtinTools, extensions, persist = false } = options;
  const harness = await createHarness({
    cwd,
    environment: apiKey === undefined ? environment : { ...environment, [keyVariable(model)]: apiKey },
    // The caller alone decides about approvals, whatever the user has configured for the program.
    overrides: { tools, builtinTools, extensions, persist, approvalMode: approve ? "ask" : "deny" },
  });
  try {
    const ask = approve && (async (request: ApprovalRequest) => approve(request));
    return new SessionAgent(harness, await harness.openSession({ fresh: true }, { model, ask }));
  } catch (error) {
    await harness.close();
    throw error;
  }
}

/** The environment variable with the key of the model's provider. */
function keyVariable(model: AgentOptions["model"]): string {
  const id = typeof model === "string" ? model : model.model.id;
  const provider = findKnownModel(id)?.provider ?? inferProvider(id);
  const vendor = VENDORS.find(({ name }) => name === provider);
  if (vendor) return vendor.variable;
  throw new UsageError(
    `apiKey is only for models of ${VENDORS.map(({ name }) => name).join(" and ")}, and ${id} is not one of them. Set its server's key in the configuration.`,
  );
}

class SessionAgent implements Agent {
  private readonly listeners = new Set<(event: AgentEvent) => void>();

  constructor(
    private readonly harness: Harness,
    private readonly opened: HarnessSession,
  ) {}

  subscribe(listener: (event: AgentEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async prompt(text: string, { signal }: { signal?: AbortSignal } = {}): Promise<AgentReply> {
    const message = { role: "user" as const, content: text, timestamp: now() };
    let reply: AgentReply = { text: "", stopReason: "error", usage: EMPTY_USAGE, cost: 0 };
    await this.opened.session.run(message, { signal }).consume((event) => {
      reply = addToReply(reply, event);
      for (const listener of [...this.listeners]) listener(event);
    });
    return reply;
  }

  close(): Promise<void> {
    return this.harness.close();
  }
}

function addToReply(reply: AgentReply, event: AgentEvent): AgentReply {
  switch (event.type) {
    case "message_end":
      return { ...reply, text: messageText(event.message) };
    case "usage": {
      const cost = reply.cost === null || event.cost === null ? null : reply.cost + event.cost;
      return { ...reply, usage: addUsage(reply.usage, event.usage), cost };
    }
    case "agent_end":
      return { ...reply, stopReason: event.stopReason, ...(event.error && { error: event.error }) };
    default:
      return reply;
  }
}
