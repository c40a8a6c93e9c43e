import { describeUnknown, readCommandLine } from "../tui/commands/find-command.ts";
import { SLASH_COMMANDS } from "../tui/commands/index.ts";
import type { CommandContext, SlashCommand } from "../tui/commands/types.ts";
import { isListNumber, NumberedList } from "./numbered-list.ts";
import { createPlainContext, type PlainContextParts } from "./plain-context.ts";

/** The slash commands of the screen where there are only lines: a list is numbered, and the number is an argument. */
export class PlainCommands {
  private readonly context: CommandContext;
  /** The list that was shown last. */
  private list: NumberedList | undefined;
  private command = "";
  /** True while a list is wanted to choose from, not to be shown. */
  private isChoosing = false;

  constructor(private readonly parts: Omit<PlainContextParts, "open">) {
    this.context = createPlainContext({ ...parts, open: (picker) => this.open(picker) });
  }

  /** True for a command that may be used while something is going on. */
  isAlwaysPossible(line: string): boolean {
    const read = readCommandLine(line, SLASH_COMMANDS);
    return read.kind !== "command" || read.command.isAlwaysPossible === true;
  }

  /** What a list numbers may be another thing by now. */
  forgetList(): void {
    this.list = undefined;
  }

  /** @throws what the command throws, Error for one that there is not or that cannot be had here. */
  async run(line: string): Promise<void> {
    const read = readCommandLine(line, SLASH_COMMANDS);
    if (read.kind === "unknown") throw new Error(describeUnknown(read));
    if (read.kind === "prompt") return this.parts.send(read.text);
    const { command, argument } = read;
    if (command.needsScreen)
      throw new Error(`/${command.name} needs a screen of its own; here are only lines.`);
    this.command = command.name;
    if (command.opensList && isChoice(command, argument)) await this.choose(command, argument);
    else await command.run(argument, this.context);
  }

  private open(picker: ConstructorParameters<typeof NumberedList>[1]): void {
    this.list = new NumberedList(this.command, picker);
    if (!this.isChoosing) this.parts.line(this.list.format());
    // Nobody looks on: what it reads meanwhile is not needed to choose from it.
    picker.close?.();
  }

  private async choose(command: SlashCommand, reference: string): Promise<void> {
    const list = this.list?.command === command.name ? this.list : await this.listOf(command);
    if (!list) return;
    const id = list.find(reference);
    if (id === undefined)
      throw new Error(`There is no ${reference} in the list of /${command.name}; it has ${list.length}.`);
    this.list = undefined;
    await list.choose(id);
  }

  private async listOf(command: SlashCommand): Promise<NumberedList | undefined> {
    this.list = undefined;
    this.isChoosing = true;
    try {
      await command.run("", this.context);
    } finally {
      this.isChoosing = false;
    }
    return this.list;
  }
}

/** A command that takes nothing else takes an id as well. */
function isChoice({ argumentHint }: SlashCommand, argument: string): boolean {
  return argument !== "" && (argumentHint === undefined || isListNumber(argument));
}
