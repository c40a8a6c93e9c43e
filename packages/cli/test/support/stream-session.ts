import { expect } from "bun:test";
import { bareEnvironment, PROGRAM } from "./run-diligent.ts";
import type { TemporaryProject } from "./temporary-project.ts";

/** A line of the output of stream-json. */
export type StreamLine = Record<string, unknown>;

/** The program with an open input of lines. */
export class StreamSession {
  readonly lines: StreamLine[] = [];
  stderr = "";
  private readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly read: Promise<unknown>;

  constructor(place: TemporaryProject, args: readonly string[]) {
    this.child = Bun.spawn([PROGRAM, "--input-format", "stream-json", ...args], {
      cwd: place.project,
      env: bareEnvironment(place),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 50_000,
      killSignal: "SIGKILL",
    });
    this.read = Promise.all([this.readLines(), this.readErrors()]);
  }

  send(...lines: object[]): void {
    for (const line of lines) this.sendRaw(`${JSON.stringify(line)}\n`);
  }

  sendRaw(bytes: string | Uint8Array): void {
    this.child.stdin.write(bytes);
    this.child.stdin.flush();
  }

  /** The first line that matches; waits for it. */
  async find(wanted: (line: StreamLine) => boolean): Promise<StreamLine> {
    for (;;) {
      const line = this.lines.find(wanted);
      if (line) return line;
      if (this.child.exitCode !== null) {
        await this.read;
        const late = this.lines.find(wanted);
        if (late) return late;
        throw new Error(`Ended without it: ${JSON.stringify(this.lines.slice(-3))} ${this.stderr}`);
      }
      await Bun.sleep(5);
    }
  }

  ofType(type: string): Promise<StreamLine> {
    return this.find((line) => line.type === type);
  }

  /** Ends the input and resolves with the exit code. */
  async end(): Promise<number> {
    this.child.stdin.end();
    return this.exited();
  }

  async exited(): Promise<number> {
    const [exitCode] = await Promise.all([this.child.exited, this.read]);
    expect(this.lines.filter(({ type }) => type === "result")).toHaveLength(1);
    expect(this.lines.at(-1)).toMatchObject({ type: "result" });
    return exitCode;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  private async readLines(): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of this.child.stdout) {
      const parts = (text + decoder.decode(chunk, { stream: true })).split("\n");
      text = parts.pop() ?? "";
      this.lines.push(...parts.map((part) => JSON.parse(part)));
    }
    expect(text).toBe("");
  }

  private async readErrors(): Promise<void> {
    this.stderr = await new Response(this.child.stderr).text();
  }
}
