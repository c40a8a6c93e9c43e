import { z } from "zod";
import type { ApprovalDecision, ApprovalRequest, Tool, ToolContext, ToolResult } from "../../tool/types.ts";
import { fromJson, type RecordedTool } from "./record-line.ts";
import type { RecordedIssue } from "./recorded-tool.ts";
import type { Replayer } from "./replayer.ts";

/** A tool that answers as it did in the record; nothing is run. */
export function toReplayedTool(recorded: RecordedTool, replayer: Replayer): Tool {
  const { functions, ...facts } = recorded;
  const { name } = facts;
  const has = (member: RecordedTool["functions"][number]) => functions.includes(member);
  const others = new Map<string, Tool>();
  return {
    ...toExact(facts),
    parameters: z.looseObject({}).superRefine((_, context) => {
      for (const { message, path } of replayer.get(`parse:${name}`, ISSUES, []))
        context.addIssue({ code: "custom", message, path });
    }),
    ...(has("approval") && {
      approval: () => replayer.get(`approval:${name}`, fromJson<ApprovalRequest>().optional(), undefined),
    }),
    ...(has("runsAlone") && {
      runsAlone: () => replayer.get(`runsAlone:${name}`, z.boolean(), false),
    }),
    ...(has("waits") && { waits: () => replayer.get(`waits:${name}`, z.boolean(), false) }),
    ...(has("isOffered") && { isOffered: () => replayer.state(`isOffered:${name}`, z.boolean(), true) }),
    ...(has("isRefused") && { isRefused: () => replayer.state(`isRefused:${name}`, z.boolean(), false) }),
    ...(has("findOther") && {
      findOther(other: string) {
        const key = `findOther:${other}:${name}`;
        const found = replayer.state(key, fromJson<RecordedTool>().optional(), undefined);
        if (!found) return undefined;
        const tool = others.get(other) ?? toReplayedTool(found, replayer);
        others.set(other, tool);
        return tool;
      },
    }),
    execute: (_, context) =>
      replayer.call(`execute:${name}`, RESULT, {
        digest: context.toolCallId,
        callback: (what, given) => repeat(what, given, context),
      }),
  };
}

/** Does what the running call did with its session. */
function repeat(what: string, given: unknown, context: ToolContext): void {
  if (what === "update") context.onUpdate?.(z.string().parse(given));
  else if (what === "decide") void context.decide?.(fromJson<ApprovalRequest>().parse(given));
  else if (what === "beforeChanges") void context.run?.beforeChanges();
  else if (what === "reject") context.run?.reject(fromJson<ApprovalDecision>().parse(given));
}

function toExact({ isDeferred, readOnly, changesFiles, keep, ...rest }: Omit<RecordedTool, "functions">) {
  return {
    ...rest,
    ...(isDeferred && { isDeferred }),
    ...(readOnly !== undefined && { readOnly }),
    ...(changesFiles !== undefined && { changesFiles }),
    ...(keep !== undefined && { keep }),
  };
}

const ISSUES = fromJson<RecordedIssue[]>(Array.isArray);
const RESULT = fromJson<ToolResult>();
