import { now, type ProviderEvent, type StreamFunction, type WatchConnection } from "@diligent/core/run";
import type { CliIo } from "../io/io.ts";

/** A stream that starts with one of these events has received nothing from the server yet, or never will. */
const UNANSWERED_EVENTS: ReadonlySet<ProviderEvent["type"]> = new Set(["retry", "stall", "error", "done"]);

/** The address to ask, and where to log the result. */
interface UpdateLocation {
  /** Undefined: do not ask. */
  url: string | undefined;
  /** Writes to the request log, if there is one. */
  note?: ((entry: object) => void) | undefined;
  /** Receives the connections. */
  watchConnection?: WatchConnection | undefined;
}

/**
 * Checks for a newer version, once per process and only if the user has set an address. The check runs
 * alongside the first answer of a model, so nothing waits for it; its code is loaded then.
 */
export class UpdateCheck {
  private readonly shutdown = new AbortController();
  private hasChecked = false;

  /** @param notify receives the message, if there is one. */
  constructor(
    private readonly io: Pick<CliIo, "environment" | "onExit">,
    private readonly notify: (text: string) => void,
  ) {}

  /**
   * Wraps a stream function so that the check starts when the first part of an answer arrives. Scripted
   * models never start it.
   */
  watchStream(stream: StreamFunction, location: UpdateLocation): StreamFunction {
    const { url } = location;
    if (url === undefined) return stream;
    return (model, context, options) => {
      const events = stream(model, context, options);
      if (this.hasChecked || model.provider === "scripted") return events;
      const unsubscribe = events.subscribe(({ type }) => {
        if (UNANSWERED_EVENTS.has(type)) return;
        unsubscribe();
        void this.check(url, location);
      });
      return events;
    };
  }

  /** Cancels the request; no message is shown then. */
  stop(): void {
    this.shutdown.abort();
  }

  private async check(url: string, { note, watchConnection }: UpdateLocation): Promise<void> {
    if (this.hasChecked) return;
    this.hasChecked = true;
    this.io.onExit(() => this.stop());
    const result = await this.runCheck(url, watchConnection);
    note?.({ type: "update", time: new Date(now()).toISOString(), ...result });
  }

  /** Returns the log entry. Only the log reports a failure; `diligent doctor` shows it on request. */
  private async runCheck(url: string, watch: UpdateLocation["watchConnection"]): Promise<object> {
    try {
      const { checkForUpdate: lookForUpdate } = await import("./update.ts");
      const { signal } = this.shutdown;
      const known = await lookForUpdate(url, { environment: this.io.environment, signal, watch });
      if (known.news !== undefined && !signal.aborted) this.notify(known.news);
      return known;
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
