import { markEnvironment } from "../../infrastructure/process/process.ts";
import { executablePath, sleep } from "../../infrastructure/runtime.ts";

/**
 * Runs in the network namespace of the session, and nowhere else in its sandbox: no command sees or ends it. For each
 * label it listens on a port of the namespace's loopback, and passes what arrives on to the Unix socket of the proxy,
 * with the label in front. It ends with its input, and so with this program.
 */
const SCRIPT = `
const net = require("node:net");
const { env, exit, stdin, stdout } = require("node:process");
const { DILIGENT_RELAY_SOCKET: path, DILIGENT_RELAY_LIMIT: limit } = env;
const listeners = new Map();
let count = 0;
function pass(label, client) {
  if (count >= Number(limit)) return client.destroy();
  count += 1;
  client.once("close", () => { count -= 1; });
  const proxy = net.connect({ path, allowHalfOpen: true });
  const end = () => { client.destroy(); proxy.destroy(); };
  client.on("error", end);
  proxy.on("error", end);
  // Both of its directions have ended: the client has no more to say to anybody.
  proxy.on("close", () => { client.end(); setTimeout(end, 1000); });
  proxy.write(label + "\\n");
  client.pipe(proxy);
  proxy.pipe(client);
}
function open(label) {
  const listener = net.createServer({ allowHalfOpen: true, noDelay: true }, (client) => pass(label, client));
  listeners.set(label, listener);
  listener.on("error", () => stdout.write(label + " 0\\n"));
  listener.listen(0, "127.0.0.1", () => stdout.write(label + " " + listener.address().port + "\\n"));
}
function close(label) {
  listeners.get(label)?.close();
  listeners.delete(label);
}
let text = "";
stdin.on("data", (chunk) => {
  const lines = (text + chunk).split("\\n");
  text = lines.pop();
  for (const line of lines) {
    const [action, label] = line.split(" ");
    if (action === "open") open(label);
    else close(label);
  }
});
stdin.on("end", () => exit(0));
`;

// More than the proxy serves or queues at a time.
const MAX_CONNECTIONS = 1_500;
const ANSWER_LIMIT_MS = 10_000;
const MAX_ANSWER_CHARACTERS = 1_000;

type RelayProcess = Bun.Subprocess<"pipe", "pipe", "pipe">;

/** Passes connections from the network namespace of a session to the proxy outside. */
export class NamespaceRelay {
  isAlive = true;
  private last: Promise<unknown> = Promise.resolve();

  private constructor(private readonly child: RelayProcess) {
    void child.exited.then(() => {
      this.isAlive = false;
    });
  }

  /**
   * @param options.join the command line that runs another one in the network namespace.
   * @throws Error when it cannot be started.
   */
  static start({
    join,
    socketPath,
  }: {
    join(argv: readonly string[]): readonly string[];
    socketPath: string;
  }): NamespaceRelay {
    const { marked } = markEnvironment({
      PATH: "/usr/bin:/bin",
      // The packaged program acts as Bun if this variable is set; Bun itself ignores it.
      BUN_BE_BUN: "1",
      DILIGENT_RELAY_SOCKET: socketPath,
      DILIGENT_RELAY_LIMIT: String(MAX_CONNECTIONS),
    });
    const child = Bun.spawn([...join([executablePath(), "-e", SCRIPT])], {
      // Nothing here belongs to a project.
      cwd: "/",
      env: marked,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      // In its own session, it receives no signals from the terminal's keys.
      detached: true,
    });
    child.unref();
    return new NamespaceRelay(child);
  }

  /** Listens for connections that get this label, a word. @returns the port. @throws Error when it cannot. */
  openPort(label: string): Promise<number> {
    // One request at a time: an answer belongs to the last request.
    const port = this.last.then(() => this.requestPort(label));
    this.last = port.catch(() => {});
    return port;
  }

  closePort(label: string): void {
    if (this.isAlive) this.tell(`close ${label}`);
  }

  end(): void {
    this.isAlive = false;
    this.child.kill("SIGKILL");
  }

  private async requestPort(label: string): Promise<number> {
    if (this.isAlive) this.tell(`open ${label}`);
    const line = await this.readLine();
    const [, port] = /^\S+ (\d+)\n$/.exec(line) ?? [];
    if (Number(port) > 0) return Number(port);
    this.end();
    throw new Error(`the relay to the network could not listen${await this.readProblem()}`);
  }

  /** If it has just ended, there is no answer. */
  private tell(line: string): void {
    try {
      this.child.stdin.write(`${line}\n`);
      Promise.resolve(this.child.stdin.flush()).catch(() => {});
    } catch {
      this.isAlive = false;
    }
  }

  /** Its output to the end of a line; less if it has ended or takes too long. */
  private async readLine(): Promise<string> {
    const reader = this.child.stdout.getReader();
    const decoder = new TextDecoder();
    const limit = new AbortController();
    const late = sleep(ANSWER_LIMIT_MS, limit.signal).then(() => undefined);
    let line = "";
    try {
      while (!line.endsWith("\n") && line.length < MAX_ANSWER_CHARACTERS) {
        const part = await Promise.race([reader.read(), late]);
        if (part === undefined || part.done) break;
        line += decoder.decode(part.value, { stream: true });
      }
      return line;
    } finally {
      limit.abort();
      reader.releaseLock();
    }
  }

  private async readProblem(): Promise<string> {
    const text = (await new Response(this.child.stderr).text()).trim();
    const line = text.split("\n").findLast((each) => each.trim() !== "") ?? "";
    return line === "" ? "" : `: ${line.trim().slice(0, MAX_ANSWER_CHARACTERS)}`;
  }
}
