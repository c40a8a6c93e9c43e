import type { Component } from "@earendil-works/pi-tui/dist/tui.js";
import { approvalLines } from "./approval/approval-view.ts";
import { renderBlocks } from "./blocks/index.ts";
import { activityLine } from "./parts/activity-line.ts";
import { queuedLines } from "./parts/queued-lines.ts";
import { statusLine } from "./parts/status-line.ts";
import { pickerLines } from "./pickers/picker-view.ts";
import { fitLine } from "./screen/screen-text.ts";
import type { Theme } from "./theme.ts";
import type { View } from "./view.ts";

export interface LiveLook {
  width: number;
  /** Of the screen. */
  rows: number;
  theme: Theme;
  /** Milliseconds, of the clock that events are applied with. */
  now: number;
}

/** What stands below the transcript and changes: open blocks, what is going on, the editor or a dialog, the status. */
export function liveLines(view: View, editor: readonly string[], look: LiveLook): string[] {
  const { width, theme, now } = look;
  const blocks = renderBlocks(view.live, { width, theme, now, cwd: view.status.cwd });
  // Nothing runs while somebody is asked.
  const activity = view.dialog?.type === "approval" ? undefined : activityLine(view.activity, look);
  return [
    ...blocks,
    ...(activity === undefined ? [] : [activity, ""]),
    ...queuedLines(view.queued, look),
    ...dialogLines(view, editor, look),
    ...(view.hint === undefined ? [] : [theme.warning(fitLine(view.hint, width))]),
    statusLine(view.status, look),
  ];
}

function dialogLines({ dialog }: View, editor: readonly string[], look: LiveLook): readonly string[] {
  switch (dialog?.type) {
    case "approval":
      return approvalLines(dialog, look);
    case "picker":
      return pickerLines(dialog, look);
    case undefined:
      return editor;
  }
}

interface LiveRegionParts {
  view(): View;
  editor: Component;
  look(): Omit<LiveLook, "width">;
}

/** The live region as the screen's child. */
export class LiveRegion implements Component {
  constructor(private readonly parts: LiveRegionParts) {}

  render(width: number): string[] {
    const { editor, look, view } = this.parts;
    return liveLines(view(), editor.render(width), { ...look(), width });
  }

  invalidate(): void {
    this.parts.editor.invalidate();
  }
}
