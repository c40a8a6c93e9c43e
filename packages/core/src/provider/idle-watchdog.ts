import { monotonicMs } from "../infrastructure/runtime.ts";
import { ProviderError } from "./errors.ts";
import { createProviderStream, type ProviderEvent, type StreamFunction } from "./types.ts";

/** After this much silence the user is notified. */
const STALL_NOTICE_MS = 45_000;
/** After this much silence the request is ended. */
export const IDLE_TIMEOUT_MS = 300_000;
/** A local model may take minutes to process a long prompt. */
export const LOCAL_IDLE_TIMEOUT_MS = 600_000;
/** A request is ended if for so long a server sends nothing but keep-alives, even if the model may be thinking. */
const KEEP_ALIVE_LIMIT_MS = 1_800_000;

/** Time limits for silence. */
export interface IdleWatchdogOptions {
  /** Silence after which the request fails, in milliseconds; `IDLE_TIMEOUT_MS` when left out. */
  idleTimeoutMs?: number | undefined;
  /** The host, such as `api.anthropic.com`, for the message. */
  host?: string | undefined;
}

/**
 * Ends a request that has gone silent before the first event or between two: the connection may be dead, and nothing
 * else would notice. Keep-alives count as a sign of life while a model may be thinking, which can take minutes. The user
 * is notified after half of the limit at the latest. The error has the kind `timeout` and is retried.
 */
export function withIdleWatchdog(
  streamFunction: StreamFunction,
  options: IdleWatchdogOptions = {},
): StreamFunction {
  const { idleTimeoutMs = IDLE_TIMEOUT_MS, host } = options;
  return (model, context, streamOptions) => {
    const stream = createProviderStream();
    const abort = new AbortController();
    const { signal } = streamOptions;
    const inner = streamFunction(model, context, {
      ...streamOptions,
      signal: signal ? AbortSignal.any([signal, abort.signal]) : abort.signal,
    });
    const watch = new SilenceWatch(idleTimeoutMs, {
      onStall: (silentMs) => stream.push({ type: "stall", silentMs }),
      onTimeout() {
        stream.push({ type: "error", error: silenceError(host ?? model.id, idleTimeoutMs) });
        abort.abort();
      },
    });
    const mayThink = (model.thinking ?? "none") !== "none" && streamOptions.effort !== "off";
    const forward = (event: ProviderEvent) => {
      if (event.type !== "keep_alive") watch.noteProgress();
      else if (mayThink) watch.noteKeepAlive();
      stream.push(event);
    };
    void inner
      .consume(forward)
      .then(
        ({ message }) => stream.end({ message }),
        (error: unknown) => stream.fail(error),
      )
      .finally(() => watch.stop());
    return stream;
  };
}

interface SilenceCallbacks {
  onStall(silentMs: number): void;
  onTimeout(): void;
}

/**
 * Measures silence with one timer that is restarted only when it expires: a chunk then costs no more than a clock
 * reading.
 */
class SilenceWatch {
  private lastProgressAt = monotonicMs();
  private lastLifeAt = this.lastProgressAt;
  private stalled = false;
  private timer: ReturnType<typeof setTimeout>;
  private readonly noticeMs: number;

  constructor(
    private readonly timeoutMs: number,
    private readonly callbacks: SilenceCallbacks,
  ) {
    this.noticeMs = Math.min(STALL_NOTICE_MS, timeoutMs / 2);
    this.timer = setTimeout(() => this.check(), this.noticeMs);
  }

  noteProgress(): void {
    this.lastProgressAt = monotonicMs();
    this.lastLifeAt = this.lastProgressAt;
    this.stalled = false;
  }

  noteKeepAlive(): void {
    const now = monotonicMs();
    if (now - this.lastProgressAt < KEEP_ALIVE_LIMIT_MS) this.lastLifeAt = now;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private check(): void {
    const silentMs = monotonicMs() - this.lastLifeAt;
    if (silentMs >= this.timeoutMs) {
      this.callbacks.onTimeout();
      return;
    }
    if (silentMs >= this.noticeMs && !this.stalled) {
      this.stalled = true;
      this.callbacks.onStall(silentMs);
    }
    const nextMs = (this.stalled ? this.timeoutMs : this.noticeMs) - silentMs;
    this.timer = setTimeout(() => this.check(), Math.max(1, nextMs));
  }
}

/** @param name of the host, or of the model if the host is not known. */
function silenceError(name: string, timeoutMs: number): ProviderError {
  const seconds = timeoutMs < 10_000 ? timeoutMs / 1000 : Math.round(timeoutMs / 1000);
  const message = `${name} has sent nothing for ${seconds} s, so the request was ended. Check the network; "idleTimeoutMs" of the provider sets this limit.`;
  return new ProviderError(message, "timeout");
}
