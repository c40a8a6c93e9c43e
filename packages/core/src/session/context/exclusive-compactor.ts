import type { SessionGate } from "../session-gate.ts";
import { type CompactionRequest, Compactor, type CompactorParts } from "./compactor.ts";
import type { CompactionOutcome } from "./context-guard.ts";

/** Compacts while no other process does so in the same session. */
export class ExclusiveCompactor extends Compactor {
  constructor(
    parts: CompactorParts,
    private readonly gate: SessionGate,
  ) {
    super(parts);
  }

  override compact(request: CompactionRequest): Promise<CompactionOutcome> {
    const { signal, emit } = request;
    return this.gate.compact(() => super.compact(request), { signal, emit, isRunning: true });
  }
}
