import { type ApprovalRequest, now } from "@diligent/core/run";
import { type AskedVerdict, type CommandEdit, type PersonAnswer, STOPPED_ANSWER } from "../../approval.ts";
import { judgedCommand } from "../../judged-request.ts";
import type { View } from "../view.ts";
import type { Room } from "./content-rows.ts";
import { GUARD_MS } from "./guard-answers.ts";
import { toApprovalDialog } from "./to-approval-dialog.ts";

/** What the desk needs of the screen and of the run that asks. */
export interface DeskParts {
  change(change: (view: View) => View): void;
  room(): Room;
  /** True once the run that asks was stopped: nothing more is put to the user then. */
  isStopped(): boolean;
  /** True while the user is writing a prompt. */
  isWriting(): boolean;
}

/** Puts what needs consent to the user, a question at a time: `createApprove` asks the next when this one is answered. */
export class ApprovalDesk {
  private answer: ((answer: PersonAnswer | CommandEdit) => void) | undefined;
  private asked: { request: ApprovalRequest; verdict: AskedVerdict } | undefined;

  constructor(private readonly parts: DeskParts) {}

  /** The command that waits for consent, or what the user made of it before, for editing it. */
  get askedCommand(): string | undefined {
    return this.asked?.verdict.refusedEdit?.command ?? (this.asked && judgedCommand(this.asked.request));
  }

  readonly ask = async (
    request: ApprovalRequest,
    verdict: AskedVerdict,
  ): Promise<PersonAnswer | CommandEdit> => {
    const { change, isStopped, isWriting, room } = this.parts;
    if (isStopped()) return STOPPED_ANSWER;
    this.asked = { request, verdict };
    const isAnswered = verdict.isEdited || verdict.refusedEdit !== undefined;
    const isElsewhere = !isAnswered && isWriting();
    const dialog = toApprovalDialog(request, verdict, room(), { isElsewhere });
    // Laying it out may take a while in which keys were pressed.
    const guardedUntil = now() + GUARD_MS;
    change((view) => ({ ...view, dialog: { ...dialog, guardedUntil } }));
    const { promise, resolve } = Promise.withResolvers<PersonAnswer | CommandEdit>();
    this.answer = resolve;
    const answer = await promise;
    this.answer = undefined;
    this.asked = undefined;
    change((view) => (view.dialog?.type === "approval" ? { ...view, dialog: undefined } : view));
    return answer;
  };

  give(answer: PersonAnswer | CommandEdit): void {
    this.answer?.(answer);
  }

  /** The run was stopped: what is asked is answered with no. */
  stop(): void {
    this.give(STOPPED_ANSWER);
  }
}
