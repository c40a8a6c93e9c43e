import type { AgentEvent } from "../../agent/types.ts";
import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import { now } from "../../infrastructure/runtime.ts";
import type { EvidenceOptions, SessionEvidence, TimedEvent } from "./session-evidence.ts";
import type { EvidenceReport } from "./types.ts";

// An answer without any of these claims nothing: what reads claims is not loaded for it.
const MAY_CLAIM = /pass|green|verif|valid|confirm|tested|build|compil|lint|type|clean|work|succe|error/i;
// What a turn does is read at its end; a longer one keeps its latest part.
const MAX_EVENTS = 5_000;

/** Shows which checks a turn ran, and which claims of its answer no check supports. */
export function createEvidence(options: EvidenceOptions): HarnessExtension {
  return {
    name: "evidence",
    // What is required of the user's session is not required of its sub-agents.
    openSession: (scope) =>
      new EvidenceOfSession(scope, scope.agent ? { ...options, required: [] } : options),
    close() {},
  };
}

/** Keeps the events that matter; what reads them is loaded with the first answer that needs it. */
class EvidenceOfSession implements SessionAddition {
  private events: TimedEvent[] = [];
  private reader: Promise<SessionEvidence> | undefined;

  constructor(
    private readonly scope: SessionScope,
    private readonly options: EvidenceOptions,
  ) {}

  onEvent(event: AgentEvent): void {
    const inner = event.type === "agent_event" ? event.event : event;
    if (!/^(?:agent_start|tool_start|tool_update|tool_end|job_update)$/.test(inner.type)) return;
    // Only a changed input of a running call matters.
    if (inner.type === "tool_update" && inner.input === undefined) return;
    // A sub-agent's turns are part of the turn that started it.
    if (event.type === "agent_event" && inner.type === "agent_start") return;
    this.events.push({ event: inner, atMs: now() });
    if (this.events.length > MAX_EVENTS) this.events.shift();
  }

  async reviewAnswer(answer: string): Promise<string | undefined> {
    const { required = [] } = this.options;
    const hasCalls = this.events.some(
      ({ event }) => event.type === "tool_end" || event.type === "job_update",
    );
    if (!hasCalls && required.length === 0 && this.reader === undefined && !MAY_CLAIM.test(answer))
      return undefined;
    this.reader ??= import("./session-evidence.ts").then(
      ({ SessionEvidence }) => new SessionEvidence(this.scope, this.options),
    );
    const reader = await this.reader;
    const { report, demand } = await reader.review(answer, this.events.splice(0));
    if (demand !== undefined) return demand;
    if (report) this.publish(report);
    return undefined;
  }

  private publish(report: EvidenceReport): void {
    const session = this.scope.session();
    const redacted = this.scope.redactor.redact(report);
    session?.appendCustom(EVIDENCE_ENTRY_TYPE, redacted);
    session?.report({ type: "evidence", ...redacted });
  }
}

/** The type of the custom entries that hold the reports of a session. */
export const EVIDENCE_ENTRY_TYPE = "evidence";
