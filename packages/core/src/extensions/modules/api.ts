import type { AgentEvent, CallAdvice, FinishedCall } from "../../agent/types.ts";
import type { ExtensionCommand, ExtensionProvider, ExtensionRenderer } from "../../harness/types.ts";
import type { ToolResult } from "../../tool/types.ts";

/** What a module that `extensions` of the configuration names exports as its default. */
export type ExtensionModule = (harness: ExtensionApi) => void | Promise<void>;

/**
 * What an extension adds to every session. Everything is registered before the module's function returns or its promise
 * resolves; each method throws an Error, with a sentence for the user, for what cannot be added.
 */
export interface ExtensionApi {
  /** The working directory, absolute and real. */
  readonly cwd: string;
  /** The root of the project, absolute and real. */
  readonly projectRoot: string;
  /** A tool for the model; names of built-in tools and of other extensions' tools are refused. */
  registerTool(tool: ExtensionTool): void;
  /** A command for the user, as `/NAME`. */
  registerCommand(command: ExtensionCommand): void;
  /** Models, which are then chosen as `PROVIDER/MODEL`. */
  registerProvider(provider: ExtensionProvider): void;
  /** Shows the calls of a tool on the screen; built-in tools are shown as always. */
  registerRenderer(toolName: string, renderer: ExtensionRenderer): void;
  /** Asks or notifies the extension at a moment; several handlers of one moment are asked in order. */
  registerHook<Moment extends keyof ExtensionHooks>(moment: Moment, handler: ExtensionHooks[Moment]): void;
}

/** A tool of an extension. */
export interface ExtensionTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  name: string;
  description: string;
  /** A JSON Schema of type `object`. Arguments that do not match it do not reach `execute`. */
  parameters: Record<string, unknown>;
  /** True if calls change nothing: they run in parallel and without approval. Otherwise each call needs approval. */
  readOnly?: boolean;
  /** What it returns or throws is what the model reads. */
  execute(
    args: Record<string, unknown>,
    context: { signal: AbortSignal },
  ): string | ToolResult | Promise<string | ToolResult>;
}

/** The moments at which an extension is asked. A handler that throws or takes too long is reported. */
export interface ExtensionHooks {
  /** Before a call is decided about; a handler that fails refuses it. */
  call(call: FinishedCall, signal: AbortSignal): CallAdvice | undefined | Promise<CallAdvice | undefined>;
  /** After a call; a text becomes a note for the model. */
  result(
    call: FinishedCall & { output: string; isError: boolean },
    signal: AbortSignal,
  ): string | undefined | Promise<string | undefined>;
  /** Before a prompt is sent; `refusal` is a sentence for the user, `context` is added for the model. */
  prompt(
    text: string,
    signal: AbortSignal,
  ): ExtensionPromptAdvice | undefined | Promise<ExtensionPromptAdvice | undefined>;
  /** Before an answer ends a run; a text is sent to the model, which continues. */
  answer(text: string, signal: AbortSignal): string | undefined | Promise<string | undefined>;
  /** Every event of every run; it must not block. */
  event(event: AgentEvent): void;
}

/** What an extension says about a prompt. */
export interface ExtensionPromptAdvice {
  refusal?: string;
  context?: string;
}
