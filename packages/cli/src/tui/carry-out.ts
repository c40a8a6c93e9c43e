import { assertNever } from "@diligent/core/run";
import type { CommandContext } from "./commands/types.ts";
import type { ConversationDriver } from "./conversation-driver.ts";
import type { PromptEditor } from "./editor/prompt-editor.ts";
import type { Effect } from "./effects.ts";
import type { OpenPicker } from "./pickers/open-picker.ts";
import type { TerminalGuard } from "./screen/terminal-guard.ts";

export interface EffectParts {
  editor: Pick<PromptEditor, "handleInput" | "setText" | "text">;
  driver: ConversationDriver;
  picker: OpenPicker;
  guard: Pick<TerminalGuard, "suspend">;
  context: CommandContext;
}

/** Does what a key asked for. */
export async function carryOut(effect: Effect, parts: EffectParts): Promise<void> {
  const { context, driver, editor, guard, picker } = parts;
  switch (effect.type) {
    case "edit":
      return editor.handleInput(effect.data);
    case "setPrompt":
      return editor.setText(effect.text);
    case "abort":
      return driver.interrupt();
    case "takeBack":
      return takeBack(effect.which, parts);
    case "answer":
      return driver.give(effect.answer);
    case "editCommand":
      return editCommand(parts);
    case "choose":
      return picker.choose(effect.id);
    case "pickerKey":
      return picker.pressKey(effect.key, effect.id);
    case "confirmPicker":
      return picker.confirm(effect.id);
    case "submitPicker":
      return picker.submit(effect.text, effect.id);
    case "closePicker":
      return picker.close();
    case "openPicker":
      return context.runCommand(effect.name);
    case "nextApprovalMode":
      return context.nextApprovalMode();
    case "showResult":
      return context.runCommand("result");
    case "externalEditor":
      return context.runCommand("editor");
    case "suspend":
      return guard.suspend();
    case "exit":
      return context.quit();
    default:
      return assertNever(effect);
  }
}

async function takeBack(which: "last" | "all", { driver, editor }: EffectParts): Promise<void> {
  const texts = await driver.takeBack(which);
  if (texts.length === 0) return;
  editor.setText([...texts, editor.text].filter((text) => text !== "").join("\n"));
}

/** The call is rejected, and the command becomes a prompt to change and send. */
async function editCommand({ driver, editor }: EffectParts): Promise<void> {
  const command = driver.askedCommand;
  if (command === undefined) return;
  driver.give({ response: "reject", message: "The user will say what to run instead.", endTurn: true });
  editor.setText(`Run this instead:\n${command}`);
}
