import { bareEnvironment, PROGRAM } from "./run-diligent.ts";
import type { TemporaryProject } from "./temporary-project.ts";

/** A message of JSON-RPC as it was received. */
export interface AcpMessage {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** A client that speaks the wire format itself, line by line. */
export class AcpClient {
  readonly received: AcpMessage[] = [];
  stderr = "";
  /** Answers requests of the agent; by default they stay open. */
  answer: (request: AcpMessage) => object | undefined = () => undefined;
  /** Answers requests of the agent with errors, before `answer`. */
  refuse: (request: AcpMessage) => object | undefined = () => undefined;
  readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly read: Promise<unknown>;
  private requests = 0;

  constructor(place: TemporaryProject, environment: Record<string, string> = {}) {
    this.child = Bun.spawn([PROGRAM, "acp"], {
      cwd: place.project,
      env: { ...bareEnvironment(place), ...environment },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 50_000,
      killSignal: "SIGKILL",
    });
    this.read = Promise.all([this.readLines(), this.readErrors()]);
  }

  sendRaw(bytes: string | Uint8Array): void {
    this.child.stdin.write(bytes);
    this.child.stdin.flush();
  }

  send(message: object): void {
    this.sendRaw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Sends a request and resolves with its answer, result or error. */
  async ask(method: string, params: unknown): Promise<AcpMessage> {
    this.requests += 1;
    const id = this.requests;
    this.send({ id, method, params });
    return this.find((message) => message.id === id && message.method === undefined);
  }

  /** As `ask`, for a request that must succeed. */
  async request(method: string, params: unknown): Promise<Record<string, unknown>> {
    const { result, error } = await this.ask(method, params);
    if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async initialize(clientCapabilities: object = {}): Promise<Record<string, unknown>> {
    return this.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  /** Resolves with the id of a new session. */
  async open(cwd: string, clientCapabilities?: object): Promise<string> {
    await this.initialize(clientCapabilities);
    const { sessionId } = await this.request("session/new", { cwd, mcpServers: [] });
    return String(sessionId);
  }

  prompt(sessionId: string, text: string): Promise<AcpMessage> {
    return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The first message that matches; waits for it. */
  async find(wanted: (message: AcpMessage) => boolean): Promise<AcpMessage> {
    for (;;) {
      const found = this.received.find(wanted);
      if (found) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        await this.read;
        const late = this.received.find(wanted);
        if (late) return late;
        throw new Error(`Ended without it: ${JSON.stringify(this.received.slice(-3))} ${this.stderr}`);
      }
      await Bun.sleep(5);
    }
  }

  /** The updates so far, of one kind if it is given. */
  updates(kind?: string): Record<string, unknown>[] {
    const all = this.received.flatMap(({ method, params }) =>
      method === "session/update" ? [Object(params?.update)] : [],
    );
    return kind === undefined ? all : all.filter(({ sessionUpdate }) => sessionUpdate === kind);
  }

  /** Closes the input and resolves with the exit code. */
  async end(): Promise<number> {
    this.child.stdin.end();
    const [exitCode] = await Promise.all([this.child.exited, this.read]);
    return exitCode;
  }

  private async readLines(): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of this.child.stdout) {
      const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.take(JSON.parse(line));
    }
    if (text !== "") throw new Error(`Unfinished line: ${text}`);
  }

  private take(message: AcpMessage): void {
    this.received.push(message);
    const { id, method } = message;
    if (method === undefined || id === undefined) return;
    const error = this.refuse(message);
    const result = error ? undefined : this.answer(message);
    if (error) this.send({ id, error });
    else if (result) this.send({ id, result });
  }

  private async readErrors(): Promise<void> {
    this.stderr = await new Response(this.child.stderr).text();
  }
}
