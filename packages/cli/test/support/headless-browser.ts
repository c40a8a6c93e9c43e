import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Why pages cannot be shown here. */
export const BROWSER_OBSTACLE = Bun.which("chromium") === null ? "chromium is not installed" : undefined;

type Parameters = Record<string, unknown>;

/** A page in a headless browser, with everything that it did. */
export class HeadlessPage implements AsyncDisposable {
  /** Console messages, errors and dialogs. */
  readonly problems: string[] = [];
  /** The addresses that it requested, those of data in the page aside. */
  readonly requests: string[] = [];
  private readonly answers = new Map<number, (answer: Parameters) => void>();
  private readonly events = new Map<string, () => void>();
  private calls = 0;
  private session: string | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly browser: Bun.Subprocess,
    private readonly directory: string,
  ) {
    socket.addEventListener("message", ({ data }) => this.receive(JSON.parse(String(data))));
  }

  static async open(): Promise<HeadlessPage> {
    const directory = mkdtempSync(join(tmpdir(), "browser-"));
    const browser = Bun.spawn(
      [
        ...[
          "chromium",
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--no-first-run",
          "--disable-dev-shm-usage",
        ],
        ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
        ...["--remote-debugging-port=0", `--user-data-dir=${directory}`, "about:blank"],
      ],
      { stdout: "ignore", stderr: "ignore", env: { ...process.env, HOME: directory } },
    );
    const { port, path } = await readPort(join(directory, "DevToolsActivePort"), browser);
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    const page = new HeadlessPage(socket, browser, directory);
    const { targetId } = await page.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await page.call("Target.attachToTarget", { targetId, flatten: true });
    page.session = String(sessionId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.call(`${domain}.enable`);
    return page;
  }

  /** Loads a file at a width in the given colors. */
  async show(file: string, { width, scheme }: { width: number; scheme: "light" | "dark" }): Promise<void> {
    await this.call("Emulation.setDeviceMetricsOverride", {
      ...{ width, height: 900, deviceScaleFactor: 1, mobile: false },
    });
    await this.call("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
    const loaded = new Promise<void>((resolve) => this.events.set("Page.loadEventFired", resolve));
    await this.call("Page.navigate", { url: `file://${file}` });
    await loaded;
  }

  /** The value of an expression in the page; its own policy does not bind it. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", {
      expression,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return isRecord(result) ? result.value : undefined;
  }

  async press(key: "Tab" | "Enter"): Promise<void> {
    const code = { Tab: 9, Enter: 13 }[key];
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === "Enter" && { text: "\r" }) };
    await this.call("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close();
    this.browser.kill("SIGKILL");
    await this.browser.exited;
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  private call(method: string, params: Parameters = {}): Promise<Parameters> {
    const id = ++this.calls;
    const { promise, resolve } = Promise.withResolvers<Parameters>();
    this.answers.set(id, resolve);
    this.socket.send(
      JSON.stringify({ id, method, params, ...(this.session && { sessionId: this.session }) }),
    );
    return promise;
  }

  private receive(message: Parameters): void {
    const { id, method, params, result, error } = message;
    if (typeof id === "number") {
      this.answers.get(id)?.(isRecord(result) ? result : { exceptionDetails: error });
      this.answers.delete(id);
      return;
    }
    if (typeof method !== "string" || !isRecord(params)) return;
    this.events.get(method)?.();
    if (method === "Network.requestWillBeSent" && isRecord(params.request)) {
      const url = String(params.request.url);
      if (!url.startsWith("data:")) this.requests.push(url);
    } else if (/^(?:Log\.entryAdded|Runtime\.consoleAPICalled|Runtime\.exceptionThrown)$/.test(method)) {
      this.problems.push(JSON.stringify(params));
    } else if (method === "Page.javascriptDialogOpening")
      this.problems.push(`dialog ${String(params.message)}`);
  }
}

async function readPort(file: string, browser: Bun.Subprocess): Promise<{ port: string; path: string }> {
  while (browser.exitCode === null) {
    const [port, path] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    if (port && path) return { port, path };
    await Bun.sleep(20);
  }
  throw new Error(`chromium ended with exit code ${browser.exitCode}.`);
}

function isRecord(value: unknown): value is Parameters {
  return typeof value === "object" && value !== null;
}
