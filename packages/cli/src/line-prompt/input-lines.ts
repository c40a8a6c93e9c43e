import type { CliOutput } from "../cli-io.ts";
import { NO_COMMAND, type ShellLine } from "../shell-line/read-shell-line.ts";
import { writeLine } from "../write-line.ts";
import { Conversation, type ConversationParts } from "./conversation.ts";
import { readInputLine } from "./read-input-line.ts";

/**
 * Does what a line of the user says. It answers the question that is open, else joins the run that is going on, else is the
 * next prompt; what has to wait for the end of something does.
 */
export class InputLines {
  readonly conversation: Conversation;
  /** Lines for when what is going on has ended. */
  private readonly waiting: string[] = [];
  /** Somebody was told that a second Ctrl+C leaves. */
  private isWarned = false;

  constructor(
    private readonly output: CliOutput,
    private readonly parts: Omit<ConversationParts, "send" | "ended">,
  ) {
    this.conversation = new Conversation(output, {
      ...parts,
      // As a line it would be a command.
      send: (text) => this.takePrompt(text.startsWith("/") ? `/${text}` : text, text),
      ended: () => {
        for (const line of this.waiting.splice(0)) this.takeWaiting(line);
      },
    });
  }

  /** A prompt of the command line: what somebody else may have written is no command for the shell. */
  begin(prompt: string): void {
    if (readInputLine(prompt).kind === "shell") this.takePrompt(prompt, prompt);
    else this.take(prompt);
  }

  /** A line that was typed, without its end. Whoever leaves is no longer listened to. */
  take(line: string): void {
    if (this.parts.isLeaving()) return;
    this.isWarned = false;
    const { approvals } = this.conversation;
    if (approvals.isAsking) {
      approvals.give(line);
      return;
    }
    const input = readInputLine(line);
    switch (input.kind) {
      case "empty":
        this.conversation.showPrompt();
        return;
      case "prompt":
        this.takePrompt(line, input.text);
        return;
      case "command":
        this.takeCommand(input.line);
        return;
      case "shell":
        this.takeShell(line, input.line);
        return;
      case "quit":
        this.say("/quit leaves at the prompt; Ctrl+C stops what is going on.");
    }
  }

  /** Stops what goes on, and what waits for that: nothing follows it. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.waiting.length = 0;
    await this.conversation.interrupt();
  }

  /** Says that a second Ctrl+C leaves; false where that was said, and nothing was typed since. */
  warnOfLeaving(): boolean {
    if (this.isWarned) return false;
    this.isWarned = true;
    this.output.write("\n");
    this.say("Press Ctrl+C again to leave.");
    return true;
  }

  private takePrompt(line: string, text: string): void {
    const { conversation } = this;
    if (this.parts.isLeaving()) return;
    if (conversation.doing === undefined) conversation.begin(text);
    else if (conversation.doing === "run") conversation.steer(text);
    else this.waiting.push(line);
  }

  private takeCommand(line: string): void {
    const { conversation } = this;
    if (conversation.doing === undefined) conversation.beginCommand(line);
    else if (conversation.doing === "run") void this.takeCommandBesideRun(line);
    else this.waiting.push(line);
  }

  /** What is forbidden, for instance, counts at once; what changes the conversation waits for the end of the run. */
  private async takeCommandBesideRun(line: string): Promise<void> {
    const { conversation } = this;
    const commands = await conversation.openCommands();
    if (this.parts.isLeaving()) return;
    if (conversation.doing === undefined) this.take(line);
    else if (!commands.isAlwaysPossible(line)) this.waiting.push(line);
    else await commands.run(line).catch((error: unknown) => conversation.fail(error));
  }

  private takeShell(typed: string, line: ShellLine): void {
    if (line.command === "") this.say(NO_COMMAND);
    else if (this.conversation.doing === undefined) this.conversation.beginShell(line, typed);
    else this.waiting.push(typed);
  }

  /** It was typed among other things: what comes of it stands below it once more. */
  private takeWaiting(line: string): void {
    if (this.conversation.doing === undefined) writeLine(this.output, line);
    this.take(line);
  }

  private say(text: string): void {
    this.conversation.line(text);
    this.conversation.showPrompt();
  }
}
