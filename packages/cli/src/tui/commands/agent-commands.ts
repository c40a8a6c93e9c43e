import type { ProjectSession } from "@diligent/core/harness";
import { type AgentEvent, now } from "@diligent/core/run";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { Continuation } from "../pager.ts";
import { formatDuration } from "../text.ts";
import { note, type SlashCommand } from "./types.ts";

type Agent = ProjectSession["agents"]["list"][number];

const MIN_COLUMNS = 20;
const INDENT = "     ";

/** `/agents`: the sub-agents of the session; `/agents N` shows what one has done and follows it, `/agents stop N` ends it. */
export const AGENTS: SlashCommand = {
  name: "agents",
  description: "Sub-agents of this session; N shows one and follows it, stop N ends it",
  argumentHint: "[N | stop N]",
  isAlwaysPossible: true,
  complete: async (prefix, { session }) =>
    (await session()).agents.list
      .flatMap(({ number, endedAtMs }) => [
        String(number),
        ...(endedAtMs === undefined ? [`stop ${number}`] : []),
      ])
      .filter((argument) => argument.startsWith(prefix)),
  async run(argument, context) {
    const { agents, redactor } = await context.session();
    const columns = Math.max(MIN_COLUMNS, context.columns());
    if (argument === "") return context.print(describeAgents(agents, columns).join("\n"));
    const [, stop, number] = /^(?:(stop)\s+)?(\d+)$/.exec(argument) ?? [];
    if (number === undefined)
      throw new Error("Use /agents to list them, /agents N to see one, or /agents stop N.");
    const agent = agents.list.find((each) => each.number === Number(number));
    if (!agent) throw new Error(`There is no sub-agent ${number}; /agents lists them.`);
    if (stop !== undefined) return stopAgent(agent, context);
    const { session } = agent;
    if (!session) return note(context, `Sub-agent ${number} has not begun yet.`);
    const { header, path, name } = session.branches;
    const { toMarkdown } = await import("../../export/export-document.ts");
    const { showText } = await import("../pager.ts");
    const shown = path.length;
    const following = session.isRunning ? await followAgent(agent, { shown, redactor }) : undefined;
    await showText(
      toMarkdown(redactor.redact({ header, path: path.slice(0, shown), name })),
      context,
      following,
    );
  },
};

/** What the agent does after the first `shown` entries of its conversation, each part once it is complete. */
async function followAgent(
  agent: Agent,
  { shown, redactor }: { shown: number; redactor: ProjectSession["redactor"] },
): Promise<Continuation> {
  const { toMoreMarkdown } = await import("../../export/export-document.ts");
  return ({ write, end }) => {
    let count = shown;
    const writeNew = () => {
      const path = agent.session?.branches.path ?? [];
      const more = toMoreMarkdown(redactor.redact(path.slice(count)));
      count = Math.max(count, path.length);
      if (more !== "") write(more);
    };
    const listen = ({ type }: AgentEvent) => {
      if (type !== "message_end" && type !== "tool_end" && type !== "agent_end") return;
      // Entries are added after the event that reports them.
      setImmediate(() => {
        if (!agent.listeners.has(listen)) return;
        writeNew();
        if (type === "agent_end") end();
      });
    };
    agent.listeners.add(listen);
    return () => void agent.listeners.delete(listen);
  };
}

function stopAgent(agent: Agent, context: Parameters<SlashCommand["run"]>[1]): void {
  const isOver = agent.endedAtMs !== undefined;
  if (!isOver) agent.stop();
  const what = isOver ? "has ended already" : "is being stopped";
  note(context, `Sub-agent ${agent.number} ${what}.`);
}

function describeAgents({ list, definitions }: ProjectSession["agents"], columns: number): string[] {
  const own =
    list.length === 0
      ? ["No sub-agents in this session yet."]
      : list.flatMap((each) => toLines(each, columns));
  const known = definitions.map(({ name, description, source }) =>
    toSingleLine(`  ${name} (${source}): ${description}`, columns),
  );
  return ["Sub-agents", "", ...own, "", "The model can use", "", ...known.map((line) => `  ${line.trim()}`)];
}

function toLines(agent: Agent, columns: number): string[] {
  const { number, definition, description, state, usage, activity, startedAtMs, endedAtMs } = agent;
  const facts = [
    state,
    ...(activity === undefined ? [] : [activity]),
    `${usage.turns} ${usage.turns === 1 ? "turn" : "turns"}`,
    `${usage.tokens.toLocaleString("en-US")} tokens`,
    ...(usage.cost === null ? [] : [`$${usage.cost.toFixed(4)}`]),
    formatDuration((endedAtMs ?? now()) - startedAtMs),
  ];
  return [
    `  ${String(number).padStart(2)} ${toSingleLine(`${definition.name}: ${description}`, columns - INDENT.length)}`,
    INDENT + toSingleLine(facts.join(" · "), columns - INDENT.length),
  ];
}
