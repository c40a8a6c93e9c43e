import { type AgentEvent, assertNever, messageText } from "@diligent/core/run";
import { type CliOutput, writeLine } from "../io/io.ts";
import { describeProgress, describeStop } from "../print/summary.ts";
import { sanitizeTerminalText, TerminalTextStream } from "../text/terminal-text.ts";
import { formatCount, wrapIndented } from "../tui/text.ts";
import type { Block, ToolCallView } from "../tui/view.ts";

/** Wraps text at words: terminals themselves break long lines mid-word. */
function fitToTerminal(text: string, { columns = Number.POSITIVE_INFINITY }: CliOutput): string {
  const lines = sanitizeTerminalText(text).split("\n");
  return lines.flatMap((line) => wrapIndented(line, columns)).join("\n");
}

/** Prints the events of a run as plain lines: the model's text as it arrives, one line per tool call and notice. */
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
        this.line(describeProgress(event));
        return;
      case "agent_end":
        // In this mode the denial came from the user.
        this.line(event.stopReason === "approval" ? "Stopped: request denied" : describeStop(event));
        return;
      // The line prompt itself shows these, between runs too.
      case "job_update":
        return;
      default:
        this.line(describeProgress(event));
    }
  }

  /** Prints a separate line; nothing for undefined. */
  line(text: string | undefined): void {
    if (text === undefined) return;
    this.endLine();
    writeLine(this.output, fitToTerminal(text, this.output));
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

/** A block of the transcript as plain text, undecorated; empty for a block without content. */
export function toTranscriptText(block: Block): string {
  switch (block.type) {
    case "prompt":
      return `> ${block.text.trim()}`;
    case "answer":
      return block.markdown.trim();
    case "thinking":
      return "";
    case "tool":
    case "shell":
      return describeCall(block.call);
    case "notice":
      return block.level === "info" ? block.text : `${block.level}: ${block.text}`;
    case "output":
      return block.text.trimEnd();
    case "change":
      return `${block.path}: ${block.added} added, ${block.removed} removed\n${block.diff.trimEnd()}`;
    case "opening":
      return `diligent ${block.version}, ${block.model}, ${block.cwd}, ${block.isSandboxed ? "sandbox on" : "no sandbox"}`;
    case "resumed":
      return `${formatCount(block.hiddenMessages, "message")} above; /tree or diligent sessions show`;
    default:
      return assertNever(block);
  }
}

/** The call; its result is in the session and was printed when it arrived. */
function describeCall({ toolName, input, result }: ToolCallView): string {
  const words = typeof input === "string" ? input : JSON.stringify(input);
  return `${toolName}: ${words}${result?.isError ? " (failed)" : ""}`;
}
