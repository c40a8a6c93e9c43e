import { type AgentEvent, messageText } from "@diligent/core/run";
import type { CliOutput } from "../cli-io.ts";
import { describeStop } from "../describe-stop.ts";
import { describeProgress } from "../progress-lines.ts";
import { TerminalTextStream } from "../terminal-text.ts";
import { writeLine } from "../write-line.ts";

/** Shows the events of a run as plain lines: the model's text as it comes, a line for each tool call and notice. */
export class Transcript {
  private text = new TerminalTextStream();
  private column: "start" | "inside" = "start";

  constructor(private readonly output: CliOutput) {}

  show(event: AgentEvent): void {
    switch (event.type) {
      case "message_start":
        this.endLine();
        return;
      case "message_delta":
        if (event.delta.type === "text_delta") this.write(this.text.push(event.delta.delta));
        return;
      case "message_end":
        this.write(this.text.end());
        if (messageText(event.message) !== "") this.endLine();
        return;
      case "agent_end":
        // Here somebody is there to answer: this is their own no.
        this.line(event.stopReason === "approval" ? "stopped: you said no" : describeStop(event));
        return;
      default:
        this.line(describeProgress(event));
    }
  }

  /** A line of its own; nothing for undefined. */
  line(text: string | undefined): void {
    if (text === undefined) return;
    this.endLine();
    writeLine(this.output, text);
  }

  private endLine(): void {
    this.write(this.text.end());
    if (this.column === "inside") this.write("\n");
  }

  private write(safeText: string): void {
    if (safeText === "") return;
    this.output.write(safeText);
    this.column = safeText.endsWith("\n") ? "start" : "inside";
  }
}
