import { onTestFinished } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { McpServerSetting } from "../../src/config/schema.ts";
import { createProjectHarness, type ProjectHarness, type ProjectSession } from "../../src/harness/harness.ts";
import type { HarnessExtension, SessionChoices } from "../../src/harness/types.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import type { Model, StreamContext, StreamFunction } from "../../src/provider/types.ts";
import type { ToolResultMessage } from "../../src/types.ts";
import type { TurnScript } from "./agent-run.ts";
import { makeTempDir } from "./temp-dir.ts";

const SERVER = join(import.meta.dir, "mcp-server.ts");

/** The setting of a test server with these behaviours; see `mcp-server.ts`. */
export function testServer(...behaviours: string[]): McpServerSetting {
  return { command: process.execPath, args: [SERVER, ...behaviours] };
}

/** A user with configured servers, and a project. */
export interface ServerStage {
  home: string;
  project: string;
  environment: Record<string, string | undefined>;
  /** Writes the user's configuration. */
  configure(config: object): void;
  open(): Promise<ProjectHarness>;
  /** Opens a harness, plays the turns, and closes it; the tool calls are answered as `choices` say. */
  play(turns: TurnScript[], choices?: PlayChoices): Promise<PlayedRun>;
}

/** How turns are played. */
export interface PlayChoices extends SessionChoices {
  /** Properties of the model. */
  properties?: Partial<Model>;
  /** Called before the run, and not waited for. */
  onOpened?(session: ProjectSession): Promise<void>;
}

/** What happened in a run. */
export interface PlayedRun {
  results: ToolResultMessage[];
  events: AgentEvent[];
  /** What the model was sent with each request. */
  requests: { tools: string[]; systemPrompt: string; context: StreamContext }[];
  notices: string[];
}

/**
 * @param servers the user's.
 * @param openExtensions extensions of each harness, in place of the program's own of the same names.
 */
export function createServerStage(
  servers: Record<string, McpServerSetting> = {},
  openExtensions?: (place: Pick<ServerStage, "project" | "environment">) => Promise<HarnessExtension[]>,
): ServerStage {
  const home = makeTempDir();
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(home, ".config/diligent"), { recursive: true });
  const environment = { HOME: home, PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
  const configure = (config: object) =>
    writeFileSync(join(home, ".config/diligent/diligent.jsonc"), JSON.stringify(config), { mode: 0o600 });
  configure({ mcpServers: servers });
  const open = async () => {
    const extensions = await openExtensions?.({ project, environment });
    const overrides = { persist: false, extensions };
    const harness = await createProjectHarness({ cwd: project, environment, overrides });
    onTestFinished(() => harness.close());
    return harness;
  };
  return {
    home,
    project,
    environment,
    configure,
    open,
    async play(turns, { properties, onOpened, ...choices } = {}) {
      const harness = await open();
      const requests: PlayedRun["requests"] = [];
      const stream = createScriptedStream({ version: 1, turns }, { startAtTurn: 0 });
      const streamFunction: StreamFunction = (model, context, options) => {
        requests.push({
          tools: context.tools.map(({ name }) => name),
          systemPrompt: context.systemPrompt ?? "",
          context,
        });
        return stream(model, context, options);
      };
      const model = { ...scriptedModel("test.json", { version: 1, turns }), ...properties };
      const opened = await harness.openSession(
        { fresh: true },
        { model: { model, streamFunction }, ...choices },
      );
      void onOpened?.(opened);
      const events: AgentEvent[] = [];
      const run = opened.session.run({ role: "user", content: "Go.", timestamp: 0 });
      for await (const event of run) events.push(event);
      const messages = await run.result();
      opened.close();
      await harness.close();
      const results = messages.filter((message) => message.role === "tool_result");
      return { results, events, requests, notices: opened.notices.map(({ message }) => message) };
    },
  };
}

/** One call in one reply. */
export function call(name: string, input: Record<string, unknown>): TurnScript {
  return { toolCalls: [{ name, input }] };
}
