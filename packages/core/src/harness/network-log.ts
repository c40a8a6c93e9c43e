import type { Approve } from "../agent/types.ts";
import type { AskForHost, NetworkConnection } from "../infrastructure/network/connection.ts";
import { formatHostAndPort } from "../infrastructure/network/host-pattern.ts";
import type { SessionManager } from "../session/manager.ts";
import { addNetworkRecord, NETWORK_ENTRY_TYPE, type NetworkRecord } from "../session/network-records.ts";
import { createHostQuestion } from "../tool/host-question.ts";
import type { Redactor } from "../tool/types.ts";

// One that ends soon after another, as those of one installation do, is saved with it.
const SAVE_AFTER_MS = 500;

// What a command that tries hosts without end adds to the session's file is limited.
const MAX_PENDING_RECORDS = 200;
const MAX_SAVED_RECORDS = 5_000;
const MAX_EVENTS = 20_000;

/** Reports the connections of a session as events, and saves them in the session's file. */
export class NetworkLog {
  private readonly pending = new Map<string, NetworkRecord>();
  private readonly running = new Set<NetworkConnection>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private savedCount = 0;
  private eventCount = 0;

  constructor(
    private readonly session: Pick<SessionManager, "report" | "appendCustom">,
    private readonly redactor: Redactor,
  ) {}

  add(connection: NetworkConnection): void {
    this.eventCount += 1;
    if (this.eventCount <= MAX_EVENTS)
      this.session.report(this.redactor.redact({ type: "network", purpose: "command", ...connection }));
    addNetworkRecord(this.pending, { ...connection, connections: 1 });
    this.timer ??= setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.timer.unref();
    if (this.pending.size >= MAX_PENDING_RECORDS) this.save();
  }

  /** See `WatchConnection`. */
  watch(connection: NetworkConnection, ended: Promise<void>): void {
    this.running.add(connection);
    void ended.then(() => this.end(connection));
  }

  /** The connections that have not ended, as they are now. */
  get open(): NetworkConnection[] {
    return [...this.running].map((connection) => ({ ...connection }));
  }

  /** Saves everything, also the connections that have not ended; nothing is added to them any more. */
  close(): void {
    for (const connection of this.running) this.end(connection);
    this.save();
  }

  private end(connection: NetworkConnection): void {
    if (this.running.delete(connection)) this.add({ ...connection });
  }

  /** Saves what is not saved yet. Call it before the session is read. */
  save(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const record of this.pending.values()) {
      if (this.savedCount >= MAX_SAVED_RECORDS) break;
      this.savedCount += 1;
      this.session.appendCustom(NETWORK_ENTRY_TYPE, record);
    }
    this.pending.clear();
  }
}

/** The question about a host that a process wants whose command has returned: no tool call can ask it. */
export function createSessionHostQuestion({
  approve,
  session,
  redactor,
}: {
  approve: Approve;
  session: Pick<SessionManager, "report">;
  redactor: Redactor;
}): AskForHost {
  return (wanted, command) =>
    createHostQuestion({
      async approve(request) {
        const decision = await approve(request, {
          announce(gate, { shown = request, mode } = {}) {
            const requestId = `network-${formatHostAndPort(wanted)}`;
            session.report(
              redactor.redact({
                type: "approval_request",
                requestId,
                request: shown,
                gate,
                ...(mode !== undefined && { mode }),
              }),
            );
            return requestId;
          },
        });
        return typeof decision === "string" ? decision : decision.response;
      },
    })(wanted, command);
}
