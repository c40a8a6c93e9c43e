import type { Approve } from "../agent/types.ts";
import type {
  AskForHost,
  NetworkConnection,
  TrafficWatcher,
  UnseenProcess,
} from "../infrastructure/network/connection.ts";
import { formatHostAndPort } from "../infrastructure/network/host-pattern.ts";
import type { SessionManager } from "../session/manager.ts";
import {
  addNetworkRecord,
  NETWORK_ENTRY_TYPE,
  type NetworkRecord,
  type NetworkRecords,
  type UnseenRecord,
} from "../session/network-records.ts";
import { createHostQuestion } from "../tool/host-question.ts";
import type { Redactor } from "../tool/types.ts";

// One that ends soon after another, as those of one installation do, is saved with it.
const SAVE_AFTER_MS = 500;

// What a command that tries hosts without end adds to the session's file is limited.
const MAX_PENDING_RECORDS = 200;
const MAX_SAVED_RECORDS = 5_000;
const MAX_EVENTS = 20_000;

/** Reports the connections of a session as events, and saves them in the session's file. */
export class NetworkLog implements TrafficWatcher {
  private readonly pending = new Map<string, NetworkRecord>();
  private readonly running = new Set<NetworkConnection>();
  /** By purpose and command; false once it is saved. */
  private readonly unseen = new Map<string, UnseenRecord | false>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private savedCount = 0;
  private eventCount = 0;

  constructor(
    private readonly session: Pick<SessionManager, "report" | "appendCustom" | "branches">,
    private readonly redactor: Redactor,
  ) {}

  add(connection: NetworkConnection): void {
    this.eventCount += 1;
    if (this.eventCount <= MAX_EVENTS)
      this.session.report(this.redactor.redact({ type: "network", purpose: "command", ...connection }));
    addNetworkRecord(this.pending, { ...connection, connections: 1 });
    this.saveSoon();
    if (this.pending.size >= MAX_PENDING_RECORDS) this.save();
  }

  watch(connection: NetworkConnection, ended: Promise<void>): void {
    this.running.add(connection);
    void ended.then(() => this.end(connection));
  }

  addUnseen({ purpose, command }: UnseenProcess): void {
    const key = `${purpose} ${command ?? ""}`;
    if (this.unseen.has(key)) return;
    this.unseen.set(key, { unseen: true, purpose, ...(command !== undefined && { command }) });
    this.saveSoon();
  }

  /** What is not in the session's entries, as it is now; connections that have not ended among them. */
  get unsaved(): NetworkRecords {
    const running = [...this.running].map((connection) => ({ ...connection, connections: 1 }));
    return {
      connections: [...this.pending.values(), ...running],
      unseen: [...this.unseen.values()].filter((record) => record !== false),
    };
  }

  /** Saves what is not saved yet. */
  save(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    // Without any entry there is no session yet, and a connection alone makes none.
    if (this.session.branches.entries.length === 0) return;
    for (const record of this.pending.values()) this.append(record);
    this.pending.clear();
    for (const [key, record] of this.unseen) {
      if (record) this.append(record);
      this.unseen.set(key, false);
    }
  }

  /** Saves everything, also the connections that have not ended; nothing is added to them any more. */
  close(): void {
    for (const connection of this.running) this.end(connection);
    this.save();
  }

  private append(record: NetworkRecord | UnseenRecord): void {
    if (this.savedCount >= MAX_SAVED_RECORDS) return;
    this.savedCount += 1;
    this.session.appendCustom(NETWORK_ENTRY_TYPE, this.redactor.redact(record));
  }

  private saveSoon(): void {
    this.timer ??= setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.timer.unref();
  }

  private end(connection: NetworkConnection): void {
    if (this.running.delete(connection)) this.add({ ...connection });
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
