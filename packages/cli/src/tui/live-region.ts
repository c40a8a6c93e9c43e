import type { Component } from "@earendil-works/pi-tui/dist/tui.js";
import { approvalLines } from "./approval/approval-view.ts";
import { type BlockEnd, renderBlocks } from "./blocks/index.ts";
import type { Block } from "./blocks.ts";
import type { Keymap } from "./keys/keymap.ts";
import { activityLine, type ShownActivity } from "./parts/activity-line.ts";
import { queuedLines } from "./parts/queued-lines.ts";
import { statusLine } from "./parts/status-line.ts";
import { pickerLines } from "./pickers/picker-view.ts";
import { fitLine } from "./screen/screen-text.ts";
import type { Theme } from "./theme.ts";
import type { View } from "./view.ts";

/** What the live region is laid out by; `width` is in columns. */
export interface LiveLook {
  width: number;
  /** Of the screen. */
  rows: number;
  theme: Theme;
  /** Milliseconds, of the clock that events are applied with. */
  now: number;
  keymap: Keymap;
  /** What the transcript above ends with. */
  above: BlockEnd;
}

/** What stands below the transcript and changes: open blocks, what is going on, the editor or a dialog, the status. */
export function liveLines(view: View, editor: readonly string[], look: LiveLook): string[] {
  const { width, theme, now } = look;
  const blocks = renderBlocks(liveBlocks(view), { width, theme, now, cwd: view.status.cwd }, look.above);
  // Nothing runs while somebody is asked.
  const activity = view.dialog?.type === "approval" ? undefined : activityLine(activityOf(view), look);
  return [
    ...blocks.lines,
    ...(blocks.end === "none" ? [] : [""]),
    ...(activity === undefined ? [] : [activity, ""]),
    ...queuedLines(view.queued, look),
    ...dialogLines(view, editor, look),
    ...(view.hint === undefined ? [] : [theme.accent(fitLine(view.hint, width))]),
    statusLine(view.status, look),
  ];
}

/** The user's own command stands below what the model does. */
function liveBlocks({ live, shell }: View): readonly Block[] {
  return shell ? [...live, shell] : live;
}

/** What Esc would stop. */
function activityOf({ activity, shell }: View): ShownActivity {
  return shell ? { type: "shell", since: shell.call.startedAt } : activity;
}

function dialogLines({ dialog }: View, editor: readonly string[], look: LiveLook): readonly string[] {
  switch (dialog?.type) {
    case "approval":
      return approvalLines(dialog, { ...look, editor });
    case "picker":
      return pickerLines(dialog, look);
    case undefined:
      return editor;
  }
}

interface LiveRegionParts {
  view(): View;
  editor: Component;
  /** Where a command that waits for consent is changed. */
  commandField: Pick<Component, "render">;
  look(): Omit<LiveLook, "width">;
}

/** The live region as the screen's child. */
export class LiveRegion implements Component {
  constructor(private readonly parts: LiveRegionParts) {}

  render(width: number): string[] {
    const { commandField, editor, look, view } = this.parts;
    const shown = view();
    const isEditing = shown.dialog?.type === "approval" && shown.dialog.isEditing;
    const written = isEditing ? commandField : editor;
    return liveLines(shown, written.render(width), { ...look(), width });
  }

  invalidate(): void {
    this.parts.editor.invalidate();
  }
}
