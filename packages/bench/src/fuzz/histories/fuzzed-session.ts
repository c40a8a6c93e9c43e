import { readFileSync, truncateSync } from "node:fs";
import { type DiligentPaths, ensureDiligentDir } from "../../../../core/src/infrastructure/diligent-dir.ts";
import { createScriptedStream } from "../../../../core/src/provider/scripted.ts";
import type { StreamFunction } from "../../../../core/src/provider/types.ts";
import { SessionManager } from "../../../../core/src/session/manager.ts";
import { toShellNote } from "../../../../core/src/session/shell-note.ts";
import { noteTool, type TurnScript, user } from "../../../../core/test/support/agent-run.ts";
import type { Step } from "./steps.ts";
import { withVendorBlocks } from "./vendor-replies.ts";
import { findFaults, modelOf, type VendorName } from "./vendors.ts";

const SHELL_NOTE = toShellNote({ command: "ls", output: "a.txt", exitCode: 0 });
// The header stays, or there is no session any more.
const KEPT_BYTES = 300;

const PRUNING = { softTrimChars: 100, softTrimHead: 20, softTrimTail: 20, hardClearAfter: 3, keepLast: 1 };

/** A session on a disk, held with models that are played, to which steps are done. */
export class FuzzedSession {
  /** What a service would have refused of the requests that were made. */
  readonly refusals: string[] = [];
  private turns: StreamFunction = play();
  private summaries: StreamFunction = play();
  private readonly model: StreamFunction;
  private session: SessionManager;

  private constructor(
    private readonly project: string,
    private readonly paths: DiligentPaths,
    private readonly start: { vendor: VendorName; contextWindow: number },
  ) {
    this.model = withVendorBlocks((model, context, options) => {
      this.refusals.push(...findFaults(context));
      const played = options.purpose === "summary" ? this.summaries : this.turns;
      return played(model, context, options);
    });
    this.session = this.open(start.vendor);
  }

  static async create(project: string, start: { vendor: VendorName; contextWindow: number }) {
    return new FuzzedSession(project, await ensureDiligentDir(project), start);
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "run":
        return await this.run(step);
      case "tell":
        return await this.session.tell(SHELL_NOTE);
      case "crash":
        return await this.reopen(this.start.vendor, step.lostBytes);
      case "resume":
        return await this.reopen(step.to, 0);
      case "switch":
        return this.session.useModel({ model: modelOf(step.to, this.start.contextWindow) });
      case "branch":
        return this.session.branch(this.entryAt(step.at) ?? null);
      case "fork":
        this.session = await this.session.fork(this.entryAt(step.at));
        return;
      case "leave":
        return await this.leave(step);
      case "compact":
        return await this.compact(step);
    }
  }

  /** What a service would refuse if the user went on now, or what the file does not hold. */
  findProblems(): string[] {
    const messages = [...this.session.context.messages, user("next")];
    const tools = [{ name: "note", description: "Notes a text.", inputSchema: { type: "object" } }];
    return [...this.refusals, ...findFaults({ systemPrompt: "Test.", messages, tools })];
  }

  /** Whether a reader of the file finds all that the session holds. */
  async findLoss(): Promise<string | undefined> {
    this.session.flush();
    const { sessionId, sessionPath } = this.session;
    if (sessionPath === undefined) return undefined;
    const reader = this.open(this.start.vendor);
    const isThere = await reader.resume({ sessionId });
    if (!isThere) return `${sessionId} cannot be found again`;
    const [held, found] = [this.session, reader].map((each) => each.branches.entries);
    // A field without a value is none on disk.
    if (Bun.deepEquals(JSON.parse(JSON.stringify(held)), found)) return undefined;
    return `held ${JSON.stringify(held)}\nfound ${JSON.stringify(found)}`;
  }

  private open(vendor: VendorName): SessionManager {
    return new SessionManager({
      cwd: this.project,
      paths: this.paths,
      context: { compaction: { pruning: { ...PRUNING, minimumTokens: 1 } } },
      agentConfig: {
        model: modelOf(vendor, this.start.contextWindow),
        systemPrompt: "Test.",
        tools: [noteTool({ readOnly: true })],
        streamFunction: this.model,
      },
    });
  }

  private async run({ turns, stopAt, steerAt }: Extract<Step, { do: "run" }>): Promise<void> {
    this.turns = play(...turns);
    this.summaries = play();
    const abort = new AbortController();
    let told: Promise<void> | undefined;
    let count = 0;
    await this.session.run(user("prompt"), { signal: abort.signal }).consume(() => {
      if (count === steerAt) {
        this.session.steer("rather this");
        told = this.session.tell(SHELL_NOTE);
      }
      if (count === stopAt) abort.abort();
      count++;
    });
    await told;
  }

  private async reopen(vendor: VendorName, lostBytes: number): Promise<void> {
    const { sessionId, sessionPath } = this.session;
    if (sessionPath === undefined) return;
    if (lostBytes > 0) {
      const { length } = readFileSync(sessionPath);
      truncateSync(sessionPath, Math.max(Math.min(KEPT_BYTES, length), length - lostBytes));
    }
    const next = this.open(vendor);
    if (!(await next.resume({ sessionId }))) this.refusals.push(`${sessionId} cannot be opened again`);
    this.session = next;
  }

  private async leave({ at, summary, stops }: Extract<Step, { do: "leave" }>): Promise<void> {
    this.summaries = play(summary);
    await this.session.branches.leave(this.entryAt(at) ?? null, stops ? stoppedSoon() : {});
  }

  private async compact({ summary, stops }: Extract<Step, { do: "compact" }>): Promise<void> {
    this.summaries = play(summary, summary, summary);
    await this.session.compact(stops ? stoppedSoon() : {});
  }

  private entryAt(at: number): string | undefined {
    const messages = this.session.branches.entries.filter(({ type }) => type === "message");
    return messages[at % Math.max(1, messages.length)]?.id;
  }
}

function play(...turns: TurnScript[]): StreamFunction {
  return createScriptedStream({ version: 1, turns }, { startAtTurn: 0, startAtSummary: 0 });
}

/** A signal that is given while the first request is on its way. */
function stoppedSoon(): { signal: AbortSignal } {
  const abort = new AbortController();
  queueMicrotask(() => queueMicrotask(() => abort.abort()));
  return { signal: abort.signal };
}
