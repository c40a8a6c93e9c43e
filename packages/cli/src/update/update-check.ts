import { now, type ProviderEvent, type StreamFunction } from "@diligent/core/run";
import type { CliIo } from "../io/io.ts";

/** A stream that begins with one of these has nothing from a server yet, or ends without. */
const NOTHING_CAME: ReadonlySet<ProviderEvent["type"]> = new Set(["retry", "stall", "error", "done"]);

/** Where to ask, and where to note what came of it. */
interface UpdateLocation {
  /** Undefined: nobody is asked. */
  url: string | undefined;
  /** Writes to the request log, where there is one. */
  note?: ((entry: object) => void) | undefined;
}

/**
 * Looks for a newer version, once in the life of a program and only where the user has said whom to ask. It comes beside
 * the first answer of a model, so that nothing waits for it; what it takes is loaded then.
 */
export class UpdateCheck {
  private readonly leaving = new AbortController();
  private hasLooked = false;

  /** @param notify gets the one sentence there may be to say. */
  constructor(
    private readonly io: Pick<CliIo, "environment" | "onExit">,
    private readonly notify: (text: string) => void,
  ) {}

  /** The same stream function, which looks when something of an answer has come. A script's answers come from nowhere. */
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

  /** Nobody waits for an answer any more, and nothing is told. */
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

  /** What the log is told. A failure is nobody else's business: whoever asks for it has `doctor`. */
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
