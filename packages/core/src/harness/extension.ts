import type { AgentEvent } from "../agent/types.ts";
import type { ApprovalRequest, Tool } from "../tool/types.ts";

/** How a gate tightens the verdict on a request; undefined leaves it to the policy. */
export interface GateDecision {
  action: "ask" | "deny";
  /** A clause for the user and the model, such as `the file is generated`. */
  reason: string;
}

/** A command that front ends offer by its name; the text it resolves with is shown to the user. */
export interface ExtensionCommand {
  /** One word, without a slash. */
  name: string;
  /** One line for lists. */
  description: string;
  run(args: string): string | undefined | Promise<string | undefined>;
}

/** An addition to every session of a harness. */
export interface HarnessExtension {
  /** Identifies it in messages; unique in a harness. */
  name: string;
  /** Offered to the model after the built-in ones. */
  tools?: readonly Tool[];
  /** A section of the system prompt. It must not change while a session is open, so that provider caches hit. */
  promptSection?: string;
  commands?: readonly ExtensionCommand[];
  /**
   * Called for each request before the policy's verdict applies; it can only tighten that verdict. If it throws, the
   * call is refused.
   */
  gate?(request: ApprovalRequest): GateDecision | undefined | Promise<GateDecision | undefined>;
  /** Receives every event of every run, in order. It must not block. */
  onEvent?(event: AgentEvent): void;
  /** Called once, when the harness is closed. */
  close(): void | Promise<void>;
}
