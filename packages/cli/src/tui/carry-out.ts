import { assertNever } from "@diligent/core/run";
import type { CommandField } from "./approval/command-field.ts";
import type { CommandContext } from "./commands/types.ts";
import type { ConversationDriver } from "./conversation-driver.ts";
import type { PromptEditor } from "./editor/prompt-editor.ts";
import type { Effect } from "./effects.ts";
import type { OpenPicker } from "./pickers/open-picker.ts";
import type { TerminalGuard } from "./screen/terminal-guard.ts";

/** The parts of the program that a key may act on. */
export interface EffectParts {
  editor: Pick<PromptEditor, "handleInput" | "setText" | "text">;
  commandField: Pick<CommandField, "handleInput" | "open" | "setText" | "text">;
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
    case "stopShell":
      return driver.shell.stop();
    case "takeBack":
      return takeBack(effect.which, parts);
    case "answer":
      return driver.approvals.give(effect.answer);
    case "editCommand":
      return parts.commandField.open(driver.approvals.askedCommand ?? "");
    case "editCommandKey":
      return parts.commandField.handleInput(effect.data);
    case "editCommandExternally":
      return editCommandExternally(parts);
    case "choose":
      return picker.choose(effect.id);
    case "pickerKey":
      return picker.pressKey(effect.action, effect.id);
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

function takeBack(which: "last" | "all", { driver, editor }: EffectParts): void {
  const texts = driver.waiting.takeBack(which);
  if (texts.length === 0) return;
  editor.setText([...texts, editor.text].filter((text) => text !== "").join("\n"));
}

/** The field holds what the editor has left; it is sent from there. */
async function editCommandExternally({ commandField, context }: EffectParts): Promise<void> {
  const { cwd, loaded } = await context.session();
  const { editExternally } = await import("./editor/external-editor.ts");
  const edited = await editExternally(commandField.text, { ...context, cwd, root: loaded.projectRoot });
  if ("error" in edited) throw new Error(edited.error);
  commandField.setText(edited.text);
}
