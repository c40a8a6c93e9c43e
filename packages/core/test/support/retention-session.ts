import { BASE_SYSTEM_PROMPT } from "../../src/config/system-prompt.ts";
import { ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import type { Model } from "../../src/provider/types.ts";
import { asRecord } from "../../src/provider/wire-format.ts";
import { SessionManager } from "../../src/session/manager.ts";
import { createTools } from "../../src/tools/index.ts";
import { FileTracker } from "../../src/tools/workspace.ts";
import { type SummarizerBehaviour, writeSummary } from "./bad-summaries.ts";
import { createRandom } from "./fuzzed-history.ts";
import { type InspectedRequest, inspectRequest } from "./inspect-request.ts";
import { RequestWatch, type WatchedRequests } from "./request-watch.ts";
import { createPlants } from "./retention-plants.ts";
import { type Reply, type SseServer, startSseServer } from "./sse-server.ts";
import { createText } from "./varied-text.ts";
import { WIRE_SERVICES, type WireAnswer, type WireServiceName } from "./wire-services.ts";
import { wireTexts } from "./wire-texts.ts";
import { WorkedFiles } from "./worked-files.ts";

export interface RetentionOptions {
  /** An empty directory, its path absolute and real. */
  project: string;
  seed: number;
  service: WireServiceName;
  /** How the summariser behaves at each compaction, from the first on; the row begins again behind its end. */
  behaviours: readonly SummarizerBehaviour[];
  compactions?: number;
  facts?: number;
  constraints?: number;
  /** Tokens; 40,000 when left out, where all that the user says can be pinned: up to 8,000 tokens. */
  contextWindow?: number;
}

export interface RetentionReport {
  /** The requests of the conversation, in order. */
  requests: InspectedRequest[];
  constraints: number;
  facts: number;
  compactions: number;
  /** Summaries that had to be made by program. */
  fallbacks: number;
  /** What a service would have refused, in words. */
  invalid: string[];
  /** Errors that reached the user. */
  failures: string[];
  watched: WatchedRequests;
  /** The facts that recall finds at the end. */
  recalledFacts: number;
}

const MAX_FILLING_ROUNDS = 60;
const WINDOW = 40_000;
// Of such a window, pruning protects the newest results up to a quarter.
const PROTECTED_SHARE = 1 / 4;

type PlannedAnswer = () => Omit<WireAnswer, "inputTokens">;

/**
 * Holds a session in which facts and constraints are planted, on a server that refuses what the real services refuse,
 * until it was compacted so many times by a summariser that behaves badly; then it is resumed for one more prompt.
 */
export async function holdRetentionSession(options: RetentionOptions): Promise<RetentionReport> {
  const session = new RetentionSession(options);
  await using server = await session.start();
  await session.hold(server);
  return session.report;
}

class RetentionSession {
  readonly report: RetentionReport;
  private readonly random: () => number;
  private readonly watch: RequestWatch;
  private readonly files: WorkedFiles;
  private readonly saidConstraints: string[] = [];
  private readonly saidFacts: string[] = [];
  /** What the model says to the next requests. */
  private plan: PlannedAnswer[] = [];

  constructor(private readonly options: RetentionOptions) {
    const { seed, project, facts = 50, constraints = 20 } = options;
    this.random = createRandom(seed);
    this.watch = new RequestWatch(Math.floor((options.contextWindow ?? WINDOW) * PROTECTED_SHARE));
    this.files = new WorkedFiles(project);
    this.report = {
      requests: [],
      constraints,
      facts,
      compactions: 0,
      fallbacks: 0,
      invalid: [],
      failures: [],
      watched: this.watch.seen,
      recalledFacts: 0,
    };
  }

  start(): Promise<SseServer> {
    return startSseServer(({ body }) => this.reply(body));
  }

  /** In as many acts as there are compactions: something is planted, and then time passes. */
  async hold(server: SseServer): Promise<void> {
    const { report, random } = this;
    const { compactions = 3 } = this.options;
    const { facts, constraints } = createPlants(random, report);
    const first = await this.open(server.url);
    for (let act = 0; act < compactions; act++) {
      const share = (all: readonly string[]) =>
        all.slice((act * all.length) / compactions, ((act + 1) * all.length) / compactions);
      await this.plantAll(first, share(constraints), share(facts));
      await this.passTime(first, act + 1);
    }
    first.close();
    const resumed = await this.open(server.url);
    await resumed.resume({ mostRecent: true });
    // Opening composes the request anew; from then on it only grows.
    this.watch.allowChange();
    await this.ask(resumed, "Go on where you were.");
    for (const fact of facts) {
      const { matches } = await resumed.searchHidden({ query: fact });
      if (matches.some(({ text }) => text.includes(fact))) report.recalledFacts++;
    }
    resumed.close();
    report.invalid.push(...server.problems);
  }

  private async open(url: string): Promise<SessionManager> {
    const { project, service, contextWindow = WINDOW } = this.options;
    const model: Model = {
      id: service === "openai" ? "gpt-5.4" : "claude-sonnet-5",
      provider: service,
      contextWindow,
      maxOutputTokens: 4_000,
      thinking: "none",
    };
    const tools = createTools({
      cwd: project,
      root: project,
      files: new FileTracker(),
      outputDirectory: () => undefined,
      environment: { HOME: project },
      sessionId: "retention",
    });
    return new SessionManager({
      cwd: project,
      paths: await ensureDiligentDir(project),
      agentConfig: {
        model,
        systemPrompt: BASE_SYSTEM_PROMPT,
        tools,
        streamFunction: WIRE_SERVICES[service].connect(url),
      },
    });
  }

  private async plantAll(session: SessionManager, constraints: readonly string[], facts: readonly string[]) {
    const waiting = [...facts];
    for (const constraint of constraints) {
      this.saidConstraints.push(constraint);
      const [inFile = "", inAnswer = "", ...others] = waiting.splice(
        0,
        Math.ceil(facts.length / constraints.length),
      );
      this.plan = [
        () => ({ calls: [this.files.read(this.say(inFile)), this.files.readMissing()] }),
        () => ({ text: this.say(others.join(" ")), calls: [this.files.edit()] }),
        () => ({ text: `Understood. ${this.say(inAnswer)}` }),
      ];
      await this.ask(session, constraint);
    }
  }

  private async passTime(session: SessionManager, compactions: number): Promise<void> {
    for (let round = 0; this.report.compactions < compactions; round++) {
      if (round === MAX_FILLING_ROUNDS) throw new Error(`There was no compaction in ${round} rounds.`);
      this.plan = [
        () => ({ calls: [this.files.read(this.text(3_000)), this.files.read(this.text(2_000))] }),
        () => ({ text: this.text(300), calls: [this.files.write(this.text(1_500))] }),
        () => ({ text: this.text(2_000) }),
      ];
      await this.ask(session, `Go on with step ${round} of part ${compactions}.`);
    }
  }

  private async ask(session: SessionManager, content: string): Promise<void> {
    const { report } = this;
    await session.run({ role: "user", content, timestamp: report.requests.length }).consume((event) => {
      if (event.type === "compaction_end") report.compactions++;
      if (event.type === "compaction_end" || event.type === "prune") this.watch.allowChange();
      if (event.type === "notice" && event.code === "compaction_fallback") report.fallbacks++;
      if (event.type === "error") report.failures.push(event.error.message);
    });
  }

  private reply(body: unknown): Reply {
    const { service } = this.options;
    const inputTokens = Math.ceil(JSON.stringify(body).length / 4);
    const hasTools = asRecord(body).tools !== undefined;
    const answer = hasTools ? this.answer(body) : { text: this.summarize(wireTexts(body).join("\n")) };
    return { events: WIRE_SERVICES[service].toEvents({ ...answer, inputTokens }) };
  }

  private answer(body: unknown): ReturnType<PlannedAnswer> {
    const { report, saidConstraints, saidFacts, files } = this;
    this.watch.inspect(body);
    const said = { constraints: saidConstraints, facts: saidFacts, files, compactions: report.compactions };
    report.requests.push(inspectRequest(body, said));
    return this.plan.shift()?.() ?? { text: "There is nothing more to say." };
  }

  private summarize(read: string): string {
    const { behaviours } = this.options;
    const kind = behaviours[this.report.compactions % behaviours.length] ?? "nothing";
    return writeSummary(kind, read, this.random);
  }

  private say(facts: string): string {
    this.saidFacts.push(...(facts.match(/Fact \d+: [^.]+\./g) ?? []));
    return facts;
  }

  private text(characters: number): string {
    return createText(this.random, this.random() < 0.5 ? "code" : "prose", characters);
  }
}
