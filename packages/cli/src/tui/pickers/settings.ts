import { APPROVAL_MODE_MEANINGS, chooseApprovalMode } from "../../approval/permissions.ts";
import { APPROVAL_MODES } from "../../arguments/command.ts";
import type { CommandContext } from "../commands/types.ts";
import { createChoice, type Picker } from "./picker.ts";

/** The session's settings with their current values; choosing one changes it in a list of its own. */
export async function settingsPicker(context: CommandContext): Promise<Picker> {
  const { session, approval } = await context.session();
  const { model, effort } = context.view().status;
  const name = session.branches.name;
  // The value is part of the label: a narrow screen has no space for details.
  const choices = [
    { label: `Model: ${model}`, run: () => context.runCommand("model") },
    {
      label: `Thinking: ${effort ?? "model default"}`,
      run: () => context.runCommand("thinking"),
    },
    { label: `Mode: ${approval.mode}`, run: () => context.open(modePicker(context, approval.mode)) },
    { label: "Rules: what is allowed or denied", run: () => context.runCommand("permissions") },
    { label: `Name: ${name ?? "none"}`, run: () => context.setPrompt(`/name ${name ?? ""}`) },
    { label: "Configuration: all values and their sources", run: () => context.runCommand("config") },
  ];
  return createChoice("settings", "Settings", choices);
}

function modePicker(context: CommandContext, current: string): Picker {
  const choices = APPROVAL_MODES.map((mode) => ({
    label: mode === current ? `${mode} (now)` : mode,
    detail: APPROVAL_MODE_MEANINGS[mode],
    run: () => chooseApprovalMode(mode, context),
  }));
  return createChoice("mode", "When should diligent ask?", choices);
}
