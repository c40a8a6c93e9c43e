import type { AgentEvent } from "../agent/types.ts";
import type { ApprovalRequest, Tool } from "../tool/types.ts";

/** How a gate tightens what is to become of a request; undefined leaves it to the policy. */
export interface GateDecision {
  action: "ask" | "deny";
  /** Half a sentence for a person and for the model, such as `the file is generated`. */
  reason: string;
}

/** A command that front ends offer under its name; the text it resolves with is shown to the user. */
export interface ExtensionCommand {
  /** One word, without a slash. */
  name: string;
  /** One line for lists. */
  description: string;
  run(args: string): string | undefined | Promise<string | undefined>;
}

/** Something that is added to every session of a harness. */
export interface HarnessExtension {
  /** Names it in messages; unique in a harness. */
  name: string;
  /** Offered to the model after the built-in ones. */
  tools?: readonly Tool[];
  /** A section of the system prompt. It must not change while a session is open, so that provider caches hit. */
  promptSection?: string;
  commands?: readonly ExtensionCommand[];
  /** Sees each request before the policy's answer counts, and can only make that stricter. What it throws refuses the call. */
  gate?(request: ApprovalRequest): GateDecision | undefined | Promise<GateDecision | undefined>;
  /** Gets every event of every run, in order. It must not wait. */
  onEvent?(event: AgentEvent): void;
  /** Called once, when the harness is closed. */
  close(): void | Promise<void>;
}
