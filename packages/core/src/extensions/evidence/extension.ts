import type { AgentEvent } from "../../agent/types.ts";
import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import type { EvidenceOptions, SessionEvidence } from "./session-evidence.ts";
import { TurnEvents } from "./turn-events.ts";
import type { EvidenceReport } from "./types.ts";

// An answer without any of these claims nothing: what reads claims is not loaded for it.
const MAY_CLAIM = /pass|green|verif|valid|confirm|tested|build|compil|lint|type|clean|work|succe|error/i;

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
  private readonly events = new TurnEvents();
  private reader: Promise<SessionEvidence> | undefined;

  constructor(
    private readonly scope: SessionScope,
    private readonly options: EvidenceOptions,
  ) {}

  onEvent(event: AgentEvent): void {
    this.events.add(event);
  }

  async reviewAnswer(answer: string): Promise<string | undefined> {
    const { required = [] } = this.options;
    if (
      !this.events.hasCalls &&
      required.length === 0 &&
      this.reader === undefined &&
      !MAY_CLAIM.test(answer)
    )
      return undefined;
    this.reader ??= import("./session-evidence.ts").then(
      ({ SessionEvidence }) => new SessionEvidence(this.scope, this.options),
    );
    const reader = await this.reader;
    const { report, demand } = await reader.review(answer, this.events.take());
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
