import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { ApprovalMode } from "../../src/approval/types.ts";
import { replaySession, type SessionReplay } from "../../src/extensions/replay/index.ts";
import { createProjectHarness, type ProjectHarness, type ProjectSession } from "../../src/harness/harness.ts";
import type { HarnessExtension } from "../../src/harness/types.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import { createProviderStream, type Model, type StreamFunction } from "../../src/provider/types.ts";
import type { AssistantMessage, ContentBlock } from "../../src/types.ts";
import { createText } from "./varied-text.ts";

/** What happened in the sessions that were generated. */
export interface GeneratedSession {
  path: string;
  /** How often each of these occurred. */
  counts: Record<string, number>;
  replays: SessionReplay[];
}

const SERVER = join(import.meta.dir, "mcp-server.ts");
const WINDOW = 24_000;
const MOST_TURNS = 6;

function toModel(id: string): Model {
  return {
    ...{ id, provider: "improvised", contextWindow: WINDOW, maxOutputTokens: 2_000 },
    ...{ inputCostPer1M: 1, outputCostPer1M: 2, cacheReadCostPer1M: 0.1, cacheWriteCostPer1M: 1 },
  };
}

/** A source of numbers from 0 up to 1, the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * Runs a recorded session at random, in a real harness with real tools, a server and sub-agents, and replays it. Prompts
 * are interrupted and steered, requests fail, the model and the branch change, conversations are summarized and resumed.
 * @param directory a new, empty one.
 */
export async function replayGeneratedSession(seed: number, directory: string): Promise<GeneratedSession> {
  const generator = new Generator(seed, realpathSync(directory));
  const path = await generator.run();
  return { path, counts: generator.counts, replays: await replaySession(path) };
}

class Generator {
  readonly counts: Record<string, number> = {};
  private readonly random: () => number;
  private readonly root: string;
  private readonly environment: Readonly<Record<string, string | undefined>>;
  private calls = 0;

  constructor(
    seed: number,
    private readonly home: string,
  ) {
    this.random = seededRandom(seed);
    this.root = join(home, "project");
    this.environment = { HOME: home, PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
  }

  async run(): Promise<string> {
    this.prepare();
    let harness = await this.open();
    let opened = await this.openSession(harness, { fresh: true });
    const { sessionId } = opened.session;
    // A session without a prompt has no file.
    await this.prompt(opened);
    const steps = 3 + this.below(5);
    for (let step = 0; step < steps; step++) {
      await this.takeStep(opened);
      if (this.random() > 0.2) continue;
      this.count("resume");
      await harness.close();
      harness = await this.open();
      opened = await this.openSession(harness, { resume: sessionId });
    }
    await harness.close();
    return join(this.root, ".diligent", "sessions", `${sessionId}.jsonl`);
  }

  private prepare(): void {
    const configured = join(this.home, ".config", "diligent");
    mkdirSync(configured, { recursive: true });
    mkdirSync(join(this.root, ".git"), { recursive: true });
    for (const name of ["a", "b", "c"])
      writeFileSync(join(this.root, `${name}.txt`), `${createText(this.random, "prose", 9_000)}\n`);
    const mcpServers = { test: { command: process.execPath, args: [SERVER], trusted: true } };
    const hooks = { PostToolUse: [{ matcher: "Read", hooks: [{ type: "command", command: "true" }] }] };
    const config = { record: true, sandbox: "off", mcpServers, hooks };
    writeFileSync(join(configured, "diligent.jsonc"), JSON.stringify(config), { mode: 0o600 });
  }

  private open(): Promise<ProjectHarness> {
    const models = ["one", "two"].map(toModel);
    const stream = this.improvise;
    const extension: HarnessExtension = {
      name: "improvised",
      providers: [{ name: "improvised", models, stream }],
      close() {},
    };
    const approvalMode = this.pick<ApprovalMode>(["ask", "auto", "accept-edits"]);
    const overrides = { extensions: [extension], approvalMode };
    return createProjectHarness({ cwd: this.root, environment: this.environment, overrides });
  }

  private openSession(
    harness: ProjectHarness,
    start: Parameters<ProjectHarness["openSession"]>[0],
  ): Promise<ProjectSession> {
    return harness.openSession(start, {
      model: "improvised/one",
      ask: async () => {
        await Bun.sleep(this.below(5));
        return this.pick(["once", "once", "always", "reject"]);
      },
      askUser: async () => {
        await Bun.sleep(this.below(5));
        return [["a"]];
      },
    });
  }

  private async takeStep(opened: ProjectSession): Promise<void> {
    const { session } = opened;
    const kind = this.random();
    if (kind < 0.1) {
      this.count("model change");
      await opened.changeModel({ modelId: this.pick(["improvised/one", "improvised/two"]), effort: "low" });
    } else if (kind < 0.18) {
      this.count("compaction on request");
      await session.compact({ focus: "files" }).catch(() => {});
    } else if (kind < 0.22) {
      await session.undoCompaction();
    } else if (kind < 0.27) {
      const { path } = session.branches;
      const target = path[this.below(path.length)];
      if (target && !session.isRunning) session.branch(target.id);
    } else if (kind < 0.31) {
      await session.notify("I have run the tests.");
      session.rename(`Session ${this.below(100)}`);
    } else if (kind < 0.34) {
      await session.describeContext();
    } else await this.prompt(opened);
  }

  private async prompt({ session, createBudget }: ProjectSession): Promise<void> {
    this.count("prompt");
    const abort = new AbortController();
    const stopAt = this.random() < 0.35 ? this.below(40) : undefined;
    const steerAt = this.random() < 0.3 ? this.below(40) : undefined;
    const isLate = this.random() < 0.5;
    let events = 0;
    const content = createText(this.random, "prose", 200);
    const message = { role: "user" as const, content, timestamp: Date.now() };
    const act = (work: () => void) => (isLate ? setTimeout(work, this.below(30)) : queueMicrotask(work));
    const run = session.run(message, { signal: abort.signal, budget: createBudget() });
    const note = (event: AgentEvent) => {
      events++;
      if (events === stopAt) {
        this.count("interrupt");
        act(() => abort.abort());
      }
      if (events === steerAt) {
        this.count("steering");
        act(() => session.steer("Also look at b.txt."));
      }
      if (event.type === "compaction_end") this.count("compaction");
      if (event.type === "status_change" && event.status === "retry") this.count("retry");
      if (event.type === "agent_event") this.count("sub-agent event");
      if (event.type === "tool_end") this.count(`${event.toolName}${event.isError ? " failed" : ""}`);
    };
    await run.consume(note);
  }

  private readonly improvise: StreamFunction = (model, context, options) => {
    const stream = createProviderStream();
    const { signal } = options;
    void (async () => {
      const text =
        options.purpose === "summary" ? SUMMARY : createText(this.random, "prose", 20 + this.below(200));
      const calls =
        options.purpose === undefined && this.wantsCalls(context.messages.length)
          ? this.improviseCalls()
          : [];
      const failure = this.random() < 0.12 ? this.pick(FAILURES) : undefined;
      const pieces = text.match(/.{1,40}/gs) ?? [];
      const content: ContentBlock[] = [];
      const usage = {
        inputTokens: Math.ceil(JSON.stringify(context).length / 4),
        outputTokens: 50,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      };
      const finish = (stopReason: AssistantMessage["stopReason"]) =>
        stream.push({
          type: "done",
          stopReason,
          message: { role: "assistant", content, model: model.id, usage, stopReason, timestamp: Date.now() },
        });
      stream.push({ type: "start" });
      let said = "";
      for (const piece of pieces) {
        await this.pause();
        if (signal?.aborted) {
          content.push({ type: "text", text: said });
          return finish("aborted");
        }
        said += piece;
        stream.push({ type: "text_delta", delta: piece });
        if (failure && this.random() < 0.5) return stream.push({ type: "error", error: failure });
      }
      stream.push({ type: "text_end", text });
      content.push({ type: "text", text });
      for (const { name, input } of calls) {
        await this.pause();
        this.calls++;
        const id = `call-${this.calls}`;
        stream.push({ type: "tool_call_start", id, name });
        stream.push({ type: "tool_call_delta", id, delta: JSON.stringify(input) });
        stream.push({ type: "tool_call_end", id, name, input });
        content.push({ type: "tool_call", id, name, input });
      }
      stream.push({ type: "usage", usage });
      if (failure && this.random() < 0.5) return stream.push({ type: "error", error: failure });
      return finish(calls.length > 0 ? "tool_use" : "end_turn");
    })();
    return stream;
  };

  private wantsCalls(messages: number): boolean {
    return this.random() < 1 - 1 / MOST_TURNS && messages < 200;
  }

  private improviseCalls(): { name: string; input: Record<string, unknown> }[] {
    return Array.from({ length: 1 + this.below(3) }, () => this.pick<() => ReturnType<typeof call>>(CALLS)());
  }

  /** A moment, of which some are long enough for something else to happen. */
  private pause(): Promise<void> {
    return this.random() < 0.3 ? Bun.sleep(this.below(4)) : Promise.resolve();
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new Error("There is nothing to choose from.");
    return picked;
  }
}

const call = (name: string, input: Record<string, unknown>) => ({ name, input });

const CALLS = [
  () => call("read", { file_path: "a.txt" }),
  () => call("read", { file_path: "b.txt", limit: "20" }),
  () => call("read", { file_path: "missing.txt" }),
  () => call("read", { limit: -1 }),
  () => call("ls", {}),
  () => call("grep", { pattern: "the" }),
  () => call("bash", { command: "echo one; echo two >&2; exit 3" }),
  () => call("bash", { command: "for i in 1 2 3; do echo $i; sleep 0.02; done" }),
  () => call("bash", { command: "sleep 0.05; echo late", background: true }),
  () => call("bash", { command: "seq 1 20000" }),
  () => call("job_output", { id: "1", wait_ms: 20 }),
  () => call("write", { file_path: "new.txt", content: "text\n" }),
  () => call("edit", { file_path: "c.txt", old_string: "nothing like this", new_string: "x" }),
  () => call("todo", { todos: [{ content: "look", status: "in_progress" }] }),
  () => call("ask_user", { questions: [{ question: "Which?", options: [{ label: "a" }, { label: "b" }] }] }),
  () => call("mcp__test__echo", { text: "hello" }),
  () => call("mcp__test__run", { name: "image" }),
  () => call("mcp__test__run", { name: "error" }),
  () => call("mcp__test__run", { name: "progress" }),
  () => call("task", { description: "look", prompt: "Look at a.txt.", agent: "explore" }),
  () => call("task", { description: "work", prompt: "Work.", agent: "general" }),
  () => call("unknown_tool", {}),
  () => call("recall", { query: "text" }),
];

const FAILURES = [
  new ProviderError("Overloaded.", "overloaded", { retryAfterMs: 5 }),
  new ProviderError("The connection was closed.", "stream_cut", { retryAfterMs: 1 }),
  new ProviderError("Invalid request.", "invalid_request"),
  new ProviderError("prompt is too long", "context_overflow", { contextWindow: 20_000 }),
];

const SUMMARY = `## Goal

Look at files.

## Constraints & Preferences

- (none)

## Progress

### Done

- [x] Looked at a.txt

### In Progress

- [ ] b.txt

### Blocked

- (none)

## Key Decisions

- (none)

## Conversation Dynamics

- (none)

## Next Steps

1. Continue.

## Critical Context

- a.txt
`;
