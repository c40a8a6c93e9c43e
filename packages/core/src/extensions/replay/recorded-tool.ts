import type { z } from "zod";
import { toToolDefinition } from "../../tool/registry.ts";
import type { SharedRun, Tool, ToolContext } from "../../tool/types.ts";
import type { Journal } from "./journal.ts";
import type { RecordedTool } from "./record-line.ts";

/** What is recorded about the tools of a session. */
export interface ToolRecording {
  /** Undefined until the session is open. */
  journal(): Journal | undefined;
  /** The functions of a run as the tools would have them without a recording. */
  plainRun(run: SharedRun): Pick<SharedRun, "budget" | "countChanges">;
}

/** Why arguments were refused, as a replay needs it. */
export interface RecordedIssue {
  message: string;
  path: (string | number)[];
}

/** What a replay needs to know about a tool. */
export function describeTool(tool: Tool): RecordedTool {
  const { isDeferred, ...definition } = toToolDefinition(tool);
  const { readOnly, changesFiles, keep } = tool;
  const functions = (
    ["approval", "runsAlone", "waits", "isOffered", "isRefused", "findOther"] as const
  ).filter((name) => tool[name] !== undefined);
  return {
    ...definition,
    ...(isDeferred && { isDeferred }),
    ...{ readOnly, changesFiles, keep, functions },
  };
}

/** The same tool, with its answers in the journal. */
export function recordTool(tool: Tool, recording: ToolRecording): Tool {
  const { journal } = recording;
  const note = <T>(name: string, value: T): T => journal()?.get(`${name}:${tool.name}`, value) ?? value;
  const observe = <T>(name: string, value: T): T => journal()?.set(`${name}:${tool.name}`, value) ?? value;
  const recorded: Partial<Tool> = {
    execute: (args, context) => {
      const open = journal();
      if (!open) return tool.execute(args, context);
      const work = (call: number) => tool.execute(args, recordContext(context, { open, call, recording }));
      return open.call(`execute:${tool.name}`, work, context.toolCallId);
    },
  };
  if (tool.approval) recorded.approval = (args) => note("approval", tool.approval?.(args));
  if (tool.runsAlone) recorded.runsAlone = (input) => note("runsAlone", tool.runsAlone?.(input) ?? false);
  if (tool.waits) recorded.waits = (input) => note("waits", tool.waits?.(input) ?? false);
  if (tool.isOffered) recorded.isOffered = () => observe("isOffered", tool.isOffered?.() ?? true);
  if (tool.isRefused) recorded.isRefused = () => observe("isRefused", tool.isRefused?.() ?? false);
  if (tool.findOther)
    recorded.findOther = (name) => {
      const found = tool.findOther?.(name);
      observe(`findOther:${name}`, found && describeTool(found));
      return found && recordTool(found, recording);
    };
  const properties = Object.entries(recorded).map(([name, value]) => [name, { value }]);
  // Other properties may be computed on first use, the parameters among them.
  return Object.create(tool, {
    ...Object.fromEntries(properties),
    parameters: { get: () => recordParameters(tool, journal) },
  });
}

/** The schema, with the outcome of each check in the journal. */
function recordParameters(tool: Tool, journal: ToolRecording["journal"]): z.ZodObject {
  const { parameters } = tool;
  const safeParse: z.ZodObject["safeParse"] = (...given) => {
    const parsed = parameters.safeParse(...given);
    journal()?.get(`parse:${tool.name}`, parsed.success ? [] : parsed.error.issues.map(toIssue));
    return parsed;
  };
  return new Proxy(parameters, {
    get: (target, key) => (key === "safeParse" ? safeParse : Reflect.get(target, key)),
  });
}

function toIssue({ message, path }: { message: string; path: PropertyKey[] }): RecordedIssue {
  return { message, path: path.map((part) => (typeof part === "number" ? part : String(part))) };
}

interface ContextRecording {
  open: Journal;
  call: number;
  recording: ToolRecording;
}

/** What a running call does with the session. */
function recordContext(context: ToolContext, { open, call, recording }: ContextRecording): ToolContext {
  const note = (f: string, a: unknown) => open.write({ t: "cb", n: call, f, a });
  const { onUpdate, decide, run } = context;
  return {
    ...context,
    approve(request) {
      note("decide", request);
      return context.approve(request);
    },
    ...(decide && {
      decide(request) {
        note("decide", request);
        return decide(request);
      },
    }),
    ...(onUpdate && {
      onUpdate(text: string) {
        note("update", text);
        onUpdate(text);
      },
    }),
    ...(run && {
      run: {
        ...run,
        ...recording.plainRun(run),
        beforeChanges() {
          note("beforeChanges", null);
          return run.beforeChanges();
        },
        reject(decision) {
          note("reject", decision);
          run.reject(decision);
        },
      },
    }),
  };
}
