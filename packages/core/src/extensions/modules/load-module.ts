import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { ExtensionCommand, ExtensionProvider, ExtensionRenderer } from "../../harness/types.ts";
import { sleep } from "../../infrastructure/runtime.ts";
import type { Tool, ToolResult } from "../../tool/types.ts";
import type { ExtensionApi, ExtensionHooks, ExtensionTool } from "./api.ts";
import type { FoundModule } from "./find-modules.ts";
import { BUILT_IN_TOOLS } from "./tool-names.ts";

/** The handlers of each moment, in order. */
export type RegisteredHooks = { [Moment in keyof ExtensionHooks]: ExtensionHooks[Moment][] };

/** What a module has registered. */
export interface LoadedModule extends FoundModule {
  tools: readonly Tool[];
  commands: readonly ExtensionCommand[];
  providers: readonly ExtensionProvider[];
  renderers: ReadonlyMap<string, ExtensionRenderer>;
  hooks: RegisteredHooks;
}

/** Where modules are loaded. */
export interface ModulePlace {
  cwd: string;
  projectRoot: string;
  /** Names that tools and commands may not have, with what has them; what is registered is added. */
  taken: Map<string, string>;
  /** How long a module may take. */
  timeoutMs: number;
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const COMMAND_NAME = /^[A-Za-z0-9][\w:.-]{0,63}$/;
const PROVIDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const KNOWN_PROVIDERS = ["anthropic", "openai", "scripted"];

/** Runs a module. @throws Error with a clause when it fails, or when its time is over; nothing of it is used then. */
export async function loadModule(found: FoundModule, place: ModulePlace): Promise<LoadedModule> {
  const registry = new Registry(found, place);
  const over = new AbortController();
  const limit = sleep(place.timeoutMs, over.signal).then(() => {
    if (!over.signal.aborted) throw new Error(`it was not ready within ${place.timeoutMs / 1_000} seconds`);
  });
  try {
    await Promise.race([run(found, registry), limit]);
  } catch (error) {
    registry.revoke();
    throw error;
  } finally {
    over.abort();
    registry.close();
  }
  return { ...found, ...registry.registered };
}

async function run({ path, version }: FoundModule, registry: Registry): Promise<void> {
  const url = pathToFileURL(path);
  // A module that has changed is another one; a file that has not is only run once.
  if (version !== undefined) url.search = version.slice(0, 16);
  const module: unknown = await import(url.href);
  const main =
    typeof module === "object" && module !== null && "default" in module ? module.default : undefined;
  if (typeof main !== "function") throw new Error("its default export is not a function");
  await main(registry.api);
}

/** Takes what one module registers, until it is closed. */
class Registry {
  private readonly tools: Tool[] = [];
  private readonly commands: ExtensionCommand[] = [];
  private readonly providers: ExtensionProvider[] = [];
  private readonly renderers = new Map<string, ExtensionRenderer>();
  private readonly hooks: RegisteredHooks = { call: [], result: [], prompt: [], answer: [], event: [] };
  private readonly names: string[] = [];
  private isClosed = false;

  constructor(
    private readonly found: FoundModule,
    private readonly place: ModulePlace,
  ) {}

  get registered(): Omit<LoadedModule, keyof FoundModule> {
    const { tools, commands, providers, renderers, hooks } = this;
    return { tools, commands, providers, renderers, hooks };
  }

  get api(): ExtensionApi {
    const { cwd, projectRoot } = this.place;
    const { tools, commands, providers, renderers, hooks } = this;
    return {
      ...{ cwd, projectRoot },
      registerTool: (tool) => {
        this.take(`the tool ${String(tool.name)}`, tool.name, TOOL_NAME);
        tools.push(toTool(tool));
      },
      registerCommand: (command) => {
        this.take(`the command /${String(command.name)}`, command.name, COMMAND_NAME);
        commands.push({ ...command, source: this.found.shown });
      },
      registerProvider: (provider) => {
        this.take(`the provider ${String(provider.name)}`, provider.name, PROVIDER_NAME);
        if (KNOWN_PROVIDERS.includes(provider.name))
          throw new Error(`there is a provider ${provider.name} already`);
        providers.push(provider);
      },
      registerRenderer: (toolName, renderer) => {
        if (BUILT_IN_TOOLS.includes(toolName))
          throw new Error(`the calls of ${toolName} are shown as always`);
        this.take(`the renderer of ${String(toolName)}`, toolName, TOOL_NAME);
        renderers.set(toolName, renderer);
      },
      registerHook: (moment, handler) => {
        this.assertOpen();
        if (!Object.hasOwn(hooks, moment)) throw new Error(`there is no hook ${JSON.stringify(moment)}`);
        if (typeof handler !== "function") throw new Error(`the handler of ${moment} is not a function`);
        hooks[moment].push(handler);
      },
    };
  }

  /** From now on, nothing is registered any more. */
  close(): void {
    this.isClosed = true;
  }

  /** Its names are free again. */
  revoke(): void {
    for (const name of this.names) this.place.taken.delete(name);
  }

  private take(what: string, name: unknown, pattern: RegExp): void {
    this.assertOpen();
    if (typeof name !== "string" || !pattern.test(name))
      throw new Error(`${JSON.stringify(name)} cannot be the name of ${what.split(" ", 2).join(" ")}`);
    const owner = this.place.taken.get(what);
    if (owner !== undefined) throw new Error(`${what} exists already: it is ${owner}`);
    this.place.taken.set(what, `registered by ${this.found.shown}`);
    this.names.push(what);
  }

  private assertOpen(): void {
    if (this.isClosed) throw new Error("nothing can be registered any more");
  }
}

function toTool({ name, description, parameters, readOnly = false, execute }: ExtensionTool): Tool {
  if (typeof description !== "string" || typeof execute !== "function")
    throw new Error(`the tool ${name} needs a description and a function execute`);
  return {
    name,
    description,
    parameters: toParameters(name, parameters),
    inputSchema: parameters,
    ...(readOnly && { readOnly: true, approval: () => undefined }),
    execute: async (args, { signal }) => toResult(await execute(args, { signal })),
  };
}

function toParameters(name: string, schema: unknown): z.ZodObject {
  const isObject =
    typeof schema === "object" && schema !== null && "type" in schema && schema.type === "object";
  const parsed = isObject ? z.fromJSONSchema({ ...schema, type: "object" }) : undefined;
  if (parsed instanceof z.ZodObject) return parsed;
  throw new Error(`the parameters of the tool ${name} are no JSON Schema of type object`);
}

function toResult(value: unknown): ToolResult {
  if (typeof value === "string") return { output: value };
  if (isResult(value)) return value;
  return { output: JSON.stringify(value) ?? "" };
}

function isResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && "output" in value && typeof value.output === "string";
}
