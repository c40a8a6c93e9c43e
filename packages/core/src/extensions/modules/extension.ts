import type { AgentEvent, CallAdvice, FinishedCall } from "../../agent/types.ts";
import type { LoadedConfig } from "../../config/loader.ts";
import type { ProjectTrust } from "../../config/trust-items.ts";
import type { HarnessExtension, Notice, SessionAddition, SessionScope } from "../../harness/types.ts";
import { type Environment, sleep } from "../../infrastructure/runtime.ts";
import { promptText } from "../../types.ts";
import { EXTENSION_TRUST, findUserModules, readProjectModules, type SkippedModule } from "./find-modules.ts";
import { type LoadedModule, loadModule, type RegisteredHooks } from "./load-module.ts";
import { BUILT_IN_TOOLS } from "./tool-names.ts";

/** Where modules are named. */
export interface ModulesPlace {
  cwd: string;
  environment: Environment;
  loaded: LoadedConfig;
  trust(): Promise<ProjectTrust>;
  /** How long each module may take to register what it adds; ten seconds when left out. */
  timeoutMs?: number;
}

const LOAD_MS = 10_000;
const HOOK_MS = 30_000;

/** The modules that the user's configuration names and, where they are trusted, those of the project. Never throws. */
export async function openModules(place: ModulesPlace): Promise<HarnessExtension> {
  const { modules, skipped } = await loadModules(place);
  return {
    name: "modules",
    commands: [
      {
        name: "extensions",
        description: "The extensions of this session, and what they have added",
        run: () => describe(modules, skipped),
      },
      ...modules.flatMap(({ commands }) => commands),
    ],
    providers: modules.flatMap(({ providers }) => providers),
    renderers: new Map(modules.flatMap(({ renderers }) => [...renderers])),
    openSession(scope) {
      for (const { shown } of modules) scope.traffic?.addUnseen({ purpose: "module", command: shown });
      return openSessionModules(modules, skipped, scope);
    },
    close() {},
  };
}

async function loadModules(
  place: ModulesPlace,
): Promise<{ modules: LoadedModule[]; skipped: SkippedModule[] }> {
  const { cwd, environment, loaded, timeoutMs = LOAD_MS } = place;
  const { config, projectExtensions, projectRoot } = loaded;
  const ofProject = await readProjectModules(projectRoot, projectExtensions);
  const trusted = await (await place.trust()).selectTrusted(EXTENSION_TRUST, ofProject.items);
  const found = [
    ...findUserModules(config.extensions ?? [], environment),
    ...trusted.map(({ module }) => module),
  ];
  const taken = new Map(BUILT_IN_TOOLS.map((name) => [`the tool ${name}`, "built in"]));
  const modules: LoadedModule[] = [];
  const skipped = [...ofProject.skipped];
  // One after the other: the first of two that register the same name has it.
  for (const module of found) {
    try {
      modules.push(await loadModule(module, { cwd, projectRoot, taken, timeoutMs }));
    } catch (error) {
      skipped.push({ shown: module.shown, reason: toClause(error) });
    }
  }
  return { modules, skipped };
}

const MAX_REASON_CHARS = 300;

function toClause(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split("\n", 1)[0]?.trim().replace(/\.$/, "") ?? "";
  return line.length > MAX_REASON_CHARS
    ? `${line.slice(0, MAX_REASON_CHARS).toWellFormed()}…`
    : line || "it failed";
}

function describe(modules: readonly LoadedModule[], skipped: readonly SkippedModule[]): string {
  const lines = modules.map(({ shown, tools, commands, providers, renderers, hooks }) => {
    const parts = [
      ...tools.map(({ name }) => `tool ${name}`),
      ...commands.map(({ name }) => `/${name}`),
      ...providers.flatMap(({ name, models }) => models.map(({ id }) => `model ${name}/${id}`)),
      ...[...renderers.keys()].map((name) => `renderer of ${name}`),
      ...Object.entries(hooks).flatMap(([moment, handlers]) =>
        handlers.length > 0 ? [`hook ${moment}`] : [],
      ),
    ];
    return `${shown}  ${parts.join(", ") || "nothing"}`;
  });
  const rest = skipped.map(({ shown, reason }) => `${shown}  not used: ${reason}`);
  return [...lines, ...rest].join("\n") || "There are no extensions.";
}

function openSessionModules(
  modules: readonly LoadedModule[],
  skipped: readonly SkippedModule[],
  scope: SessionScope,
): SessionAddition {
  const notices = skipped.map(
    ({ shown, reason }): Notice => ({
      level: "warning",
      code: "extension_not_loaded",
      message: `The extension ${shown} is not used: ${reason}`,
    }),
  );
  const hooks = new SessionModules(modules, scope);
  return {
    tools: modules.flatMap(({ tools }) => tools),
    notices: scope.agent ? [] : notices,
    ...(hooks.has("call") && { beforeCall: (call, signal) => hooks.adviseCall(call, signal) }),
    ...(hooks.has("result") && {
      afterCall: async (call, signal) => {
        const notes = await hooks.ask("result", ({ result }) =>
          result.map((handler) => () => handler(call, signal)),
        );
        return notes.length === 0 ? undefined : notes.join("\n");
      },
    }),
    ...(hooks.has("prompt") && {
      async checkPrompt(message, signal = new AbortController().signal) {
        const said = await hooks.ask("prompt", ({ prompt }) =>
          prompt.map((handler) => () => handler(promptText(message), signal)),
        );
        const refusal = said.find((each) => each.refusal !== undefined)?.refusal;
        const context = said.flatMap((each) => each.context ?? []).join("\n");
        return { ...(refusal !== undefined && { refusal }), ...(context !== "" && { context }) };
      },
    }),
    ...(hooks.has("answer") && {
      reviewAnswer: async (answer, signal) => {
        const said = await hooks.ask("answer", ({ answer: handlers }) =>
          handlers.map((handler) => () => handler(answer, signal)),
        );
        return said.length === 0 ? undefined : said.join("\n");
      },
    }),
    onEvent: (event) => hooks.notify(event),
  };
}

type Moment = keyof RegisteredHooks;

/** The handlers of all modules in one session. A handler that fails is reported with its file. */
class SessionModules {
  private readonly failed = new Set<string>();

  constructor(
    private readonly modules: readonly LoadedModule[],
    private readonly scope: SessionScope,
  ) {}

  has(moment: Moment): boolean {
    return this.modules.some(({ hooks }) => hooks[moment].length > 0);
  }

  /** What the handlers of a moment say, in order, without those that fail. */
  async ask<T extends object | string>(
    moment: Moment,
    toCalls: (hooks: RegisteredHooks) => readonly (() => T | undefined | Promise<T | undefined>)[],
  ): Promise<T[]> {
    const said: T[] = [];
    for (const module of this.modules)
      for (const call of toCalls(module.hooks)) {
        const answer = await this.attempt(module, moment, call);
        if ("value" in answer && answer.value) said.push(answer.value);
      }
    return said;
  }

  async adviseCall(call: FinishedCall, signal: AbortSignal): Promise<CallAdvice | undefined> {
    let input: CallAdvice["input"];
    let verdict: CallAdvice["verdict"];
    const all = this.modules.flatMap((module) => module.hooks.call.map((handler) => ({ module, handler })));
    for (const { module, handler } of all) {
      const current = { ...call, input: input ?? call.input };
      const answer = await this.attempt(module, "call", () => handler(current, signal));
      if ("problem" in answer)
        return { refusal: `The extension ${module.shown} could not decide about it: ${answer.problem}.` };
      const advice = answer.value;
      if (advice?.refusal !== undefined) return { refusal: advice.refusal };
      input = advice?.input ?? input;
      // Only the user's own extensions may allow, and one that asks is stricter.
      const isUsed = advice?.verdict?.action === "ask" || (module.isUsers && verdict === undefined);
      if (advice?.verdict && isUsed) verdict = advice.verdict;
    }
    return input === undefined && verdict === undefined ? undefined : { input, verdict };
  }

  notify(event: AgentEvent): void {
    for (const module of this.modules)
      for (const handler of module.hooks.event) {
        try {
          handler(event);
        } catch (error) {
          this.report(module, "event", toClause(error));
        }
      }
  }

  private async attempt<T>(
    module: LoadedModule,
    moment: Moment,
    call: () => T | Promise<T>,
  ): Promise<{ value: T } | { problem: string }> {
    const over = new AbortController();
    const limit = sleep(HOOK_MS, over.signal).then((): { problem: string } => ({
      problem: `it did not answer within ${HOOK_MS / 1_000} seconds`,
    }));
    try {
      const answer = await Promise.race([(async () => ({ value: await call() }))(), limit]);
      if ("problem" in answer) this.report(module, moment, answer.problem);
      return answer;
    } catch (error) {
      const problem = toClause(error);
      this.report(module, moment, problem);
      return { problem };
    } finally {
      over.abort();
    }
  }

  /** Once for each module and moment. */
  private report({ shown }: LoadedModule, moment: Moment, problem: string): void {
    const key = `${shown}\0${moment}`;
    if (this.failed.has(key)) return;
    this.failed.add(key);
    const message = `The extension ${shown} failed at the hook ${moment}: ${problem}`;
    this.scope.session()?.report({ type: "notice", level: "warning", code: "extension_failed", message });
  }
}
