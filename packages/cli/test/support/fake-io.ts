import type { CliIo, CliOutput, SignalName } from "../../src/io/io.ts";

/** An output that stores what is written. */
export class FakeOutput implements CliOutput {
  text = "";
  readonly closing = new AbortController();
  failure: Error | undefined;

  constructor(readonly isTerminal = false) {}

  get closed(): AbortSignal {
    return this.closing.signal;
  }

  write(text: string): void {
    if (!this.closed.aborted) this.text += text;
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }
}

/** A `CliIo` in memory: signals are sent by `send`, exits are recorded. */
export class FakeIo implements CliIo {
  stdin = { isTerminal: true, stream: () => new ReadableStream<Uint8Array>() };
  readonly stdout = new FakeOutput();
  readonly stderr = new FakeOutput();
  cwd = "/";
  environment = {};
  platform = "linux";
  readonly exits: number[] = [];
  private readonly listeners = new Set<(signal: SignalName) => void>();

  get listenerCount(): number {
    return this.listeners.size;
  }

  readonly onSignal = (listener: (signal: SignalName) => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly onExit = () => {};

  readonly onAnyExit = () => () => {};

  readonly openTerminal = async () => {
    const { VirtualTerminal } = await import("./virtual-terminal.ts");
    return { terminal: new VirtualTerminal(), host: new FakeHost() };
  };

  readonly exit = (code: number) => void this.exits.push(code);

  send(signal: SignalName): void {
    for (const listener of [...this.listeners]) listener(signal);
  }
}

/** A process without signals. */
class FakeHost {
  readonly pid = process.pid;
  readonly stdin = { on: () => undefined };
  readonly stdout = { on: () => undefined };
  readonly on = () => undefined;
  readonly off = () => undefined;
  readonly kill = () => undefined;
}
