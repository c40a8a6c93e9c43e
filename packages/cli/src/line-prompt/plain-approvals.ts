import type { ApprovalRequest } from "@diligent/core/run";
import { type AskPerson, type CommandEdit, STOPPED_ANSWER } from "../approval.ts";
import type { CliOutput } from "../cli-io.ts";
import { judgedCommand } from "../judged-request.ts";
import { formatEditQuestion, formatHint, formatQuestion, parseAnswer, wantsEdit } from "./question.ts";

/** Puts what needs consent to the user in lines, a question at a time: `createApprove` asks the next when this one is answered. */
export class PlainApprovals {
  private answer: ((line: string | undefined) => void) | undefined;

  /** @param isStopped true once the run that asks was stopped: nothing more is put to the user then. */
  constructor(
    private readonly output: CliOutput,
    private readonly isStopped: () => boolean,
  ) {}

  /** The next line is an answer. */
  get isAsking(): boolean {
    return this.answer !== undefined;
  }

  readonly ask: AskPerson = async (request, verdict) => {
    for (let hint = ""; !this.isStopped(); hint = `${formatHint(request, verdict)}\n`) {
      this.output.write(`\n${hint}${formatQuestion(request, verdict)}`);
      const answer = await this.nextAnswer();
      if (answer !== undefined && wantsEdit(answer, request, verdict)) return this.askForCommand(request);
      const decision = answer === undefined ? undefined : parseAnswer(answer, verdict);
      if (decision !== undefined) return decision;
    }
    return STOPPED_ANSWER;
  };

  /** Answers the question that is open. @param line undefined: the run was stopped. */
  give(line: string | undefined): void {
    this.answer?.(line);
  }

  /** What is written is put to the user again as a whole; a terminal that is read by lines cannot have it there to edit. */
  private async askForCommand(request: ApprovalRequest): Promise<CommandEdit> {
    const before = judgedCommand(request) ?? "";
    this.output.write(formatEditQuestion(before));
    const line = await this.nextAnswer();
    return { edited: line === undefined || line.trim() === "" ? before : line };
  }

  private nextAnswer(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.answer = (line) => {
        this.answer = undefined;
        resolve(line);
      };
    });
  }
}
