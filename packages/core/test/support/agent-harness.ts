import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import {
  createProjectHarness,
  type ProjectChoices,
  type ProjectOverrides,
  type ProjectSession,
} from "../../src/harness/harness.ts";
import type { SessionChoices, SessionStart } from "../../src/harness/types.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A turn of a script; see docs/scripted-provider.md. */
type Turn = Record<string, unknown>;

interface AgentProjectOptions {
  /** Of the session; sub-agents without a script of their own take their turns from it, too. */
  turns: readonly Turn[];
  price?: { inputCostPer1M: number; outputCostPer1M: number };
  /** The turns of each sub-agent of that name: every one of them plays all of these. New names are like `general`. */
  scripts?: Readonly<Record<string, readonly Turn[]>>;
  /** Contents of the project's files. */
  files?: Readonly<Record<string, string>>;
  /** Contents of files in the user's home directory. */
  homeFiles?: Readonly<Record<string, string>>;
  /** The user's configuration. */
  config?: Readonly<Record<string, unknown>>;
  overrides?: ProjectOverrides;
  choices?: SessionChoices;
}

const BUILT_IN = new Set(["explore", "general", "reviewer"]);

/** A project with an open session whose model, and those of its sub-agents, play scripts. */
export class AgentProject {
  readonly events: AgentEvent[] = [];
  /** Called with each event. */
  onEvent: ((event: AgentEvent) => void) | undefined;

  private constructor(
    readonly root: string,
    readonly environment: Readonly<Record<string, string | undefined>>,
    readonly opened: ProjectSession,
    private readonly closeHarness: () => Promise<void>,
  ) {}

  static async open({ turns, scripts = {}, price, ...options }: AgentProjectOptions): Promise<AgentProject> {
    const home = realpathSync(makeTempDir());
    const root = join(home, "project");
    const write = (path: string, text: string) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    };
    mkdirSync(join(root, ".git"), { recursive: true });
    for (const [path, text] of Object.entries(options.files ?? {})) write(join(root, path), text);
    for (const [path, text] of Object.entries(options.homeFiles ?? {})) write(join(home, path), text);
    const script = (name: string, played: readonly Turn[]) => {
      const path = join(home, "scripts", `${name}.json`);
      write(path, JSON.stringify({ version: 1, turns: played, ...(price && { price }) }));
      return `scripted/${path}`;
    };
    const agents = Object.fromEntries(
      Object.entries(scripts).map(([name, played]) => [
        name,
        { model: script(name, played), ...(!BUILT_IN.has(name) && { description: "Works." }) },
      ]),
    );
    const config = { sandbox: "off", ...(Object.keys(agents).length > 0 && { agents }), ...options.config };
    write(join(home, ".config", "diligent", "diligent.jsonc"), JSON.stringify(config));
    const environment = { HOME: home, PATH: process.env.PATH };
    const harness = await createProjectHarness({ cwd: root, environment, overrides: options.overrides });
    const choices = { model: script("session", turns), ...options.choices };
    const opened = await harness.openSession({ fresh: true }, choices);
    return new AgentProject(root, environment, opened, () => harness.close());
  }

  /** Sends a prompt and resolves with the events of its run. */
  async run(signal?: AbortSignal): Promise<AgentEvent[]> {
    const run = this.opened.session.run({ role: "user", content: "Go.", timestamp: 0 }, { signal });
    const events: AgentEvent[] = [];
    await run.consume((event) => {
      events.push(event);
      this.events.push(event);
      this.onEvent?.(event);
    });
    return events;
  }

  /** The results of the calls of `task`, in order. */
  get results(): Extract<AgentEvent, { type: "tool_end" }>[] {
    return this.events.flatMap((event) =>
      event.type === "tool_end" && event.toolName === "task" ? [event] : [],
    );
  }

  /** The events of the sub-agents. */
  get agentEvents(): AgentEvent[] {
    return this.events.flatMap((event) => (event.type === "agent_event" ? [event.event] : []));
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  /** The lines of each session file, that of the session first. */
  readSessionFiles(): Record<string, unknown>[][] {
    const directory = join(this.root, ".diligent", "sessions");
    const own = `${this.opened.session.sessionId}.jsonl`;
    const names = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
    return names
      .sort((left, right) => Number(right === own) - Number(left === own) || left.localeCompare(right))
      .map((name) =>
        readFileSync(join(directory, name), "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      );
  }

  /** Opens another session in the project, as a new start of the program does. */
  async reopen<T>(
    use: (opened: ProjectSession) => T,
    { start = { fresh: true }, ...choices }: ProjectChoices & { start?: SessionStart } = {},
  ): Promise<Awaited<T>> {
    const { root: cwd, environment } = this;
    const harness = await createProjectHarness({ cwd, environment });
    const model = this.opened.model.id;
    const result = await use(await harness.openSession(start, { model, ...choices }));
    await harness.close();
    return result;
  }

  close(): Promise<void> {
    return this.closeHarness();
  }
}

/** A reply that gives tasks to sub-agents. */
export function delegate(...tasks: { agent?: string; prompt?: string; background?: boolean }[]): Turn {
  const toolCalls = tasks.map((task) => ({
    name: "task",
    input: { description: "Do it", prompt: "Do it.", ...task },
  }));
  return { toolCalls };
}
