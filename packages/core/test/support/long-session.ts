import { z } from "zod";
import type { AgentEvent } from "../../src/agent/types.ts";
import { ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import type { Model, StreamContext, StreamOptions } from "../../src/provider/types.ts";
import { SessionManager } from "../../src/session/manager.ts";
import type { Tool } from "../../src/tool/types.ts";
import type { TurnScript } from "./agent-run.ts";
import { type AskedRecord, type CountingModel, createCountingModel } from "./counting-model.ts";
import { createRandom } from "./fuzzed-history.ts";
import { createText, type TextKind } from "./varied-text.ts";

/** `prompts`: as many prompts, each with an answer. `calls`: one prompt whose run makes as many turns of tool calls. */
export type LongSessionKind = "prompts" | "calls";

export interface LongSessionOptions {
  kind: LongSessionKind;
  turns: number;
  /** An empty directory; the session is saved in it. */
  project: string;
  seed?: number | undefined;
  /** Tokens; 20,000 when left out. */
  contextWindow?: number | undefined;
  /** What the texts are made of, one by one at random; a name twice makes it more likely. */
  kinds?: readonly TextKind[] | undefined;
  /** Called before each turn of what is asked for, and once behind the last. */
  onTurn?: ((turn: number, session: SessionManager) => void) | undefined;
  /** Called with each request of the conversation, before it is counted. */
  onRequest?: ((context: StreamContext, session: SessionManager) => void) | undefined;
}

export interface LongSessionReport {
  asked: AskedRecord;
  /** The requests for summaries. */
  summaries: AskedRecord;
  compactions: number;
  /** Summaries that had to be made by program. */
  fallbacks: number;
  /** Errors that an observer of the session saw, and reasons for which a run ended that were not its end. */
  failures: string[];
  /** Milliseconds of CPU time of each request that were neither the model's nor a tool's. */
  requestMs: number[];
}

const MIXTURE: readonly TextKind[] = ["prose", "code", "code", "json", "prose", "cjk"];
const SYSTEM_PROMPT = createText(createRandom(3), "prose", 6_000);

/** Holds a session with a small window to its end, with a model and a summariser that answer at once. */
export async function holdLongSession(options: LongSessionOptions): Promise<LongSessionReport> {
  const rehearsal = new Rehearsal(options);
  const session = await rehearsal.openSession();
  const prompts = options.kind === "prompts" ? options.turns : 1;
  for (let prompt = 0; prompt < prompts; prompt++) await rehearsal.ask(session, prompt);
  options.onTurn?.(options.turns, session);
  session.close();
  return rehearsal.report;
}

class Rehearsal {
  readonly report: LongSessionReport;
  private readonly random: () => number;
  private readonly talker: CountingModel;
  private readonly summarizer: CountingModel;
  private replies = 0;
  private calls = 0;
  private requestEnded: number | undefined;
  private toolMs = 0;

  constructor(private readonly options: LongSessionOptions) {
    const { seed = 1, contextWindow = 20_000 } = options;
    this.random = createRandom(seed);
    const model: Model = { id: "played", provider: "scripted", contextWindow, maxOutputTokens: 4_000 };
    this.talker = createCountingModel(model, () => this.reply());
    this.summarizer = createCountingModel(model, (_, streamOptions) => this.summarize(streamOptions));
    const [asked, summaries] = [this.talker.asked, this.summarizer.asked];
    this.report = { asked, summaries, compactions: 0, fallbacks: 0, failures: [], requestMs: [] };
  }

  async openSession(): Promise<SessionManager> {
    const { model, streamFunction } = this.talker;
    const session = new SessionManager({
      cwd: this.options.project,
      paths: await ensureDiligentDir(this.options.project),
      context: { summarizer: async () => this.summarizer },
      agentConfig: {
        model,
        systemPrompt: SYSTEM_PROMPT,
        tools: [this.createTool()],
        streamFunction: (...request) => {
          this.noteRequest(session, request[1]);
          const stream = streamFunction(...request);
          this.requestEnded = cpuMs();
          return stream;
        },
      },
    });
    return session;
  }

  async ask(session: SessionManager, prompt: number): Promise<void> {
    if (this.options.kind === "prompts") this.options.onTurn?.(prompt, session);
    const length = this.random() < 0.01 ? 4_000 : 20 + this.random() * 600;
    const content = `Prompt ${prompt}: ${this.text(length)}`;
    const stream = session.run({ role: "user", content, timestamp: prompt });
    await stream.consume((event) => this.observe(event));
  }

  private observe(event: AgentEvent): void {
    const { report } = this;
    if (event.type === "compaction_end") report.compactions++;
    if (event.type === "notice" && event.code === "compaction_fallback") report.fallbacks++;
    if (event.type === "error") report.failures.push(event.error.message);
    if (event.type === "agent_end" && event.stopReason !== "end_turn") report.failures.push(event.stopReason);
  }

  private noteRequest(session: SessionManager, context: StreamContext): void {
    const { options, report, requestEnded } = this;
    if (requestEnded !== undefined) report.requestMs.push(cpuMs() - requestEnded - this.toolMs);
    this.toolMs = 0;
    if (options.kind === "calls") options.onTurn?.(this.replies, session);
    options.onRequest?.(context, session);
  }

  private reply(): TurnScript {
    const { kind, turns } = this.options;
    this.replies++;
    const isLast = kind === "calls" ? this.replies > turns : this.random() < 0.6;
    if (isLast) return { text: `Answer ${this.replies}: ${this.text(100 + this.random() * 1_400)}` };
    const count = this.random() < 0.1 ? 1 + Math.floor(this.random() * 3) : 1;
    const text = this.random() < 0.5 ? { text: this.text(20 + this.random() * 200) } : {};
    return { ...text, toolCalls: Array.from({ length: count }, () => this.createCall()) };
  }

  private createCall() {
    const number = ++this.calls;
    const input = { path: `src/part-${number % 300}.ts`, line: number };
    return { id: `call_${number}`, name: "look", input };
  }

  /** Its results have 200 to 6,000 characters, and one in fifty has 25,000. */
  private createTool(): Tool {
    const parameters = z.strictObject({ path: z.string(), line: z.number() });
    return {
      name: "look",
      description: "Looks at a file.",
      parameters,
      readOnly: true,
      execute: async () => {
        const begin = cpuMs();
        const output = this.text(this.random() < 0.02 ? 25_000 : 200 + this.random() ** 2 * 5_800);
        this.toolMs += cpuMs() - begin;
        return { output };
      },
    };
  }

  private text(characters: number): string {
    const { kinds = MIXTURE } = this.options;
    const kind = kinds[Math.floor(this.random() * kinds.length)] ?? "prose";
    return createText(this.random, kind, Math.floor(characters));
  }

  /** As long as a model's would be, up to what it may have. */
  private summarize({ maxTokens = 1_000 }: StreamOptions): TurnScript {
    const characters = Math.min(maxTokens * 3, 1_500 + this.random() * 4_500);
    const done = createText(this.random, "prose", Math.floor(characters));
    const goal = "## Goal\n\nWork through the parts.\n\n## Progress\n\n### Done\n\n";
    return { text: `${goal}${done}\n\n## Critical Context\n\n- Reply ${this.replies} was the last one.` };
  }
}

/** CPU time of this thread: what else the machine does, and waiting for its disk, are not in it. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
