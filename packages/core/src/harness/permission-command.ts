import type { AgentEvent } from "../agent/types.ts";
import { inheritEnvironment } from "../infrastructure/process/environment.ts";
import { type ChildProcess, startProcess } from "../infrastructure/process/process.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { describeError } from "./errors.ts";
import type { AskPerson, PersonAnswer } from "./types.ts";

// Long enough for a reason; more would only fill the model's context.
const MAX_ANSWER_CHARACTERS = 4_000;
const MAX_PROBLEM_CHARACTERS = 200;

interface PermissionCommandOptions {
  /** Absolute and real. */
  cwd: string;
  environment: Environment;
  /** Ends the command. */
  stop: AbortSignal;
}

type ApprovalEvent = Extract<AgentEvent, { type: "approval_request" }>;

/**
 * Asks a shell command of the user about requests: it reads the `approval_request` event as one line of JSON and prints
 * `once`, `always` or `reject REASON`. Anything else, a failure included, rejects.
 */
export class PermissionCommand {
  private readonly events = new Map<string, ApprovalEvent>();

  constructor(
    private readonly command: string,
    private readonly options: PermissionCommandOptions,
  ) {}

  /** Receives every event of the run: that of a request precedes its question. */
  noteEvent(event: AgentEvent): void {
    if (event.type === "approval_request") this.events.set(event.requestId, event);
  }

  /** See `AskPerson`. */
  readonly ask: AskPerson = async (request, { gate }, { requestId }) => {
    const event = this.events.get(requestId) ?? { type: "approval_request", requestId, request, gate };
    this.events.delete(requestId);
    try {
      return toAnswer(await this.run(`${JSON.stringify(event)}\n`));
    } catch (error) {
      return refuse(`it could not be asked: ${describeError(error)}`);
    }
  };

  private async run(input: string): Promise<CommandAnswer> {
    const { cwd, environment, stop } = this.options;
    const child = await startProcess({
      argv: ["/bin/sh", "-c", this.command],
      cwd,
      environment: { ...inheritEnvironment(environment), PATH: environment.PATH ?? "" },
      hasInput: true,
      hasSeparateOutputs: true,
    });
    const end = () => void child.end();
    stop.addEventListener("abort", end, { once: true });
    try {
      void send(input, child.input);
      const texts = Promise.all(child.outputs.map((output) => new Response(output).text()));
      const [[output = "", problem = ""], { exitCode }] = await Promise.all([texts, child.exited]);
      return { output, problem, exitCode };
    } finally {
      stop.removeEventListener("abort", end);
    }
  }
}

async function send(text: string, input: ChildProcess["input"]): Promise<void> {
  try {
    await input?.write(text);
    await input?.end();
  } catch {
    // It has ended, or closed its input, without reading everything: its answer decides.
  }
}

interface CommandAnswer {
  output: string;
  /** Its stderr. */
  problem: string;
  /** Null if a signal ended it. */
  exitCode: number | null;
}

function toAnswer({ output, problem, exitCode }: CommandAnswer): PersonAnswer {
  if (exitCode !== 0) {
    const shown = problem.trim().slice(0, MAX_PROBLEM_CHARACTERS);
    return refuse(`it ended with exit code ${exitCode}${shown === "" ? "" : ` (${shown})`}`);
  }
  const answer = output.trim();
  if (answer === "once" || answer === "always") return { response: answer };
  const [, reason] = /^reject(?:\s+([\s\S]*))?$/.exec(answer) ?? [];
  if (reason !== undefined)
    return { response: "reject", message: `The user denied this: ${reason.slice(0, MAX_ANSWER_CHARACTERS)}` };
  if (answer === "reject") return { response: "reject", message: "The user denied this." };
  return refuse("it did not answer once, always or reject");
}

function refuse(why: string): PersonAnswer {
  return {
    response: "reject",
    unattended: true,
    message: `Refused: this needs an approval, which --permission-prompt decides, and ${why}.`,
  };
}
