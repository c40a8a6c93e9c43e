import { now, type ProviderEvent, type StreamFunction } from "@diligent/core/run";
import type { CliIo } from "../io/io.ts";

/** A stream that starts with one of these events has received nothing from the server yet, or never will. */
const NOTHING_CAME: ReadonlySet<ProviderEvent["type"]> = new Set(["retry", "stall", "error", "done"]);

/** The address to ask, and where to log the result. */
interface UpdateLocation {
  /** Undefined: do not ask. */
  url: string | undefined;
  /** Writes to the request log, if there is one. */
  note?: ((entry: object) => void) | undefined;
}

/**
 * Checks for a newer version, once per process and only if the user has set an address. The check runs
 * alongside the first answer of a model, so nothing waits for it; its code is loaded then.
 */
export class UpdateCheck {
  private readonly leaving = new AbortController();
  private hasLooked = false;

  /** @param notify receives the message, if there is one. */
  constructor(
    private readonly io: Pick<CliIo, "environment" | "onExit">,
    private readonly notify: (text: string) => void,
  ) {}

  /**
   * Wraps a stream function so that the check starts when the first part of an answer arrives. Scripted
   * models never start it.
   */
  beside(stream: StreamFunction, { url, note }: UpdateLocation): StreamFunction {
    if (url === undefined) return stream;
    return (model, context, options) => {
      const events = stream(model, context, options);
      if (this.hasLooked || model.provider === "scripted") return events;
      const unsubscribe = events.subscribe(({ type }) => {
        if (NOTHING_CAME.has(type)) return;
        unsubscribe();
        void this.look(url, note);
      });
      return events;
    };
  }

  /** Cancels the request; no message is shown then. */
  stop(): void {
    this.leaving.abort();
  }

  private async look(url: string, note: UpdateLocation["note"]): Promise<void> {
    if (this.hasLooked) return;
    this.hasLooked = true;
    this.io.onExit(() => this.stop());
    const finding = await this.find(url);
    note?.({ type: "update", time: new Date(now()).toISOString(), ...finding });
  }

  /** Returns the log entry. Only the log reports a failure; `diligent doctor` shows it on request. */
  private async find(url: string): Promise<object> {
    try {
      const { lookForUpdate } = await import("./update.ts");
      const { signal } = this.leaving;
      const known = await lookForUpdate(url, { environment: this.io.environment, signal });
      if (known.news !== undefined && !signal.aborted) this.notify(known.news);
      return known;
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
