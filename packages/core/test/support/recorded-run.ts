import { join } from "node:path";
import { z } from "zod";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { ModelChoice } from "../../src/harness/types.ts";
import { ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import type { Environment } from "../../src/infrastructure/runtime.ts";
import { withRetry } from "../../src/provider/retry.ts";
import { startRecording } from "../../src/provider/scripted/recording.ts";
import { createScriptedStream, readScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { Model, RunConditions } from "../../src/provider/types.ts";
import type { ContextOptions } from "../../src/session/compaction/context-window.ts";
import type { CompactionSettings } from "../../src/session/compaction/limits.ts";
import { SessionManager } from "../../src/session/manager.ts";
import type { Tool } from "../../src/tool/types.ts";
import { createRandom } from "./fuzzed-history.ts";
import { improviseReply } from "./improvised-replies.ts";
import type { ImprovisedService } from "./improvised-wire.ts";
import { startSseServer } from "./sse-server.ts";
import { summaryOf } from "./summaries.ts";
import { makeTempDir } from "./temp-dir.ts";
import { createText } from "./varied-text.ts";

const PROMPTS = 8;
const MAX_TURNS = 12;
// Repeated at once, and always told the same.
const AT_ONCE = { sleep: async () => {}, random: () => 0 };

/** What one run came to: its events without times, ids and the names of model and server, one a line. */
export type RunLines = string[];

export interface RecordedRun {
  lines: RunLines;
  /** The script. */
  path: string;
}

export interface RunPlace {
  /** Where what is learned of models is kept. */
  environment: Environment;
  /** What is configured there. */
  compaction?: CompactionSettings;
}

/** A run against a server on loopback that improvises, as the program holds one with `--record`. */
export async function recordRun(
  service: ImprovisedService,
  { seed, conditions = {}, ...place }: RunPlace & { seed: number; conditions?: RunConditions | undefined },
): Promise<RecordedRun> {
  const random = createRandom(seed);
  let number = 0;
  await using server = await startSseServer(({ body }) => {
    const inputTokens = Math.round(JSON.stringify(body).length / 3.1);
    const counted = { number: ++number, inputTokens };
    if (!offersTools(body)) {
      const pieces = [summaryOf("find the bug"), " and mend it"];
      return service.toReply({ parts: [{ kind: "text", pieces }], ending: "whole", isMixed: false }, counted);
    }
    return service.toReply(improviseReply(random), counted);
  });
  const path = join(makeTempDir(), "run.json");
  const recording = startRecording(path, (error) => {
    throw error;
  });
  const model: Model = {
    id: service.model,
    provider: "test",
    contextWindow: 12_000,
    maxOutputTokens: 2_000,
    inputCostPer1M: 3,
    outputCostPer1M: 15,
    longContext: { inputCostPer1M: 6, outputCostPer1M: 22, aboveInputTokens: 8_000 },
  };
  const held = { maxTurns: MAX_TURNS, ...conditions };
  const stream = withRetry(recording.wrap(service.connect(server.url), held), AT_ONCE);
  const small = { ...model, id: "small", contextWindow: 9_000, maxOutputTokens: 900, inputCostPer1M: 1 };
  const summarizer = async () => ({ model: small, streamFunction: stream });
  return {
    path,
    lines: await holdRun({ model, streamFunction: stream, conditions: held }, { ...place, summarizer }),
  };
}

/** The same played from its recording. */
export async function replayRun(path: string, place: RunPlace): Promise<RunLines> {
  const script = await readScript(path);
  const model = scriptedModel("run.json", script);
  const streamFunction = withRetry(createScriptedStream(script), AT_ONCE);
  return holdRun({ model, streamFunction, conditions: script.conditions }, place);
}

async function holdRun(
  { model, streamFunction, conditions }: ModelChoice,
  { environment, ...context }: RunPlace & Pick<ContextOptions, "summarizer">,
): Promise<RunLines> {
  const project = makeTempDir();
  const session = new SessionManager({
    cwd: project,
    paths: await ensureDiligentDir(project),
    conditions,
    context: { calibrationLocation: environment, ...context },
    agentConfig: { model, streamFunction, systemPrompt: "Test.", tools: createTestTools(), maxTurns: 1 },
  });
  const events: AgentEvent[] = [];
  for (let prompt = 0; prompt < PROMPTS; prompt++) {
    const run = session.run({ role: "user", content: `Prompt ${prompt}.`, timestamp: 0 });
    await run.consume((event) => void events.push(event));
  }
  session.close();
  return toLines(events, model.id);
}

// The ids of entries are drawn anew in each run.
const ENTRY_IDS = ["entryIds", "cutEntryIds", "keptEntryIds"];
const VARIABLE: ReadonlySet<string> = new Set(["timestamp", "durationMs", "model", ...ENTRY_IDS]);

function toLines(events: readonly AgentEvent[], modelId: string): RunLines {
  const ids = new Map<string, string>();
  const nameId = (id: string) => {
    const name = ids.get(id) ?? `id ${ids.size}`;
    ids.set(id, name);
    return name;
  };
  const replace = (key: string, value: unknown) => {
    if (VARIABLE.has(key)) return undefined;
    if ((key === "id" || key === "toolCallId") && typeof value === "string") return nameId(value);
    return value;
  };
  return events.map((event) =>
    JSON.stringify(event, replace)
      .replaceAll(modelId, "MODEL")
      .replace(/127\.0\.0\.1:\d+/g, "HOST"),
  );
}

function offersTools(body: unknown): boolean {
  const tools = typeof body === "object" && body !== null && "tools" in body ? body.tools : undefined;
  return Array.isArray(tools) && tools.length > 0;
}

/** Tools that tell the same for the same arguments, each time at another moment. */
function createTestTools(): Tool[] {
  const parameters = z.object({ path: z.string(), length: z.int() });
  const create = (name: string, { readOnly = true, slowestMs = 0, fails = false } = {}): Tool => ({
    name,
    description: `Does what ${name} says.`,
    parameters,
    readOnly,
    approval: () => undefined,
    async execute(args) {
      const { path, length } = parameters.parse(args);
      if (slowestMs > 0) await Bun.sleep(Math.random() * slowestMs);
      if (fails) throw new Error(`${path} is broken.`);
      return { output: createText(createRandom(length), "code", length) };
    },
  });
  return [
    create("look"),
    create("slow", { slowestMs: 3 }),
    create("change", { readOnly: false }),
    create("broken", { slowestMs: 1, fails: true }),
  ];
}
