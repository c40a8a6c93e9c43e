import { type Job, now } from "@diligent/core/run";
import { toSingleLine } from "../../text/terminal-text.ts";
import { formatDuration } from "../text.ts";
import { note, type SlashCommand } from "./types.ts";

const MIN_COLUMNS = 20;
const INDENT = "     ";

/** `/jobs`: the commands in the background; `/jobs kill ID` ends one. */
export const JOBS: SlashCommand = {
  name: "jobs",
  description: "Commands in the background; kill ID ends one",
  argumentHint: "[kill ID]",
  isAlwaysPossible: true,
  complete: async (prefix, { session }) =>
    (await session()).jobs.list
      .filter(({ isRunning }) => isRunning)
      .map(({ id }) => `kill ${id}`)
      .filter((argument) => argument.startsWith(prefix)),
  async run(argument, context) {
    const { jobs } = await context.session();
    if (argument !== "") return killJob(argument, context);
    if (jobs.list.length === 0) return note(context, "No commands in the background.");
    const columns = Math.max(MIN_COLUMNS, context.columns());
    context.print(
      ["Commands in the background", "", ...jobs.list.flatMap((job) => toLines(job, columns))].join("\n"),
    );
  },
};

const KILL = /^kill\s+(\d+)$/;

async function killJob(argument: string, context: Parameters<SlashCommand["run"]>[1]): Promise<void> {
  const id = KILL.exec(argument)?.[1];
  if (id === undefined) throw new Error("Use /jobs to list them, or /jobs kill ID to end one.");
  const { jobs } = await context.session();
  const job = jobs.find(id);
  if (!job.isRunning) return note(context, `Job ${id} has ended already (${job.describeState()}).`);
  // Its end is reported like any other.
  if (!(await job.end())) throw new Error(`Not all of job ${id} could be ended. Try again.`);
}

function toLines(job: Job, columns: number): string[] {
  const age = formatDuration((job.endedAtMs ?? now()) - job.startedAtMs);
  const facts = [
    job.describeState(),
    ...(job.isDetached ? ["detached"] : []),
    age,
    ...(job.isRunning ? [`CPU ${formatDuration(job.cpuTimeMs())}`] : []),
  ];
  const last = job.output.lastLine();
  return [
    `  ${job.id.padStart(2)} ${toSingleLine(job.command, columns - INDENT.length)}`,
    INDENT + toSingleLine(facts.join(" · "), columns - INDENT.length),
    ...(last === "" ? [] : [INDENT + toSingleLine(`> ${last}`, columns - INDENT.length)]),
  ];
}

/** `/try COMMAND`: a typed line runs as the user's shell command does (`shell-line.ts`); here nothing follows it. */
export const TRY: SlashCommand = {
  name: "try",
  description: "Run a shell command in a view of the project, then apply or drop what it changed",
  argumentHint: "COMMAND",
  isAlwaysPossible: true,
  run: () => Promise.reject(new Error("Type /try and a shell command at the prompt: /try npm run format")),
};
