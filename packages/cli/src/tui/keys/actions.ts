/** What keys can do outside of the text editor, by the ids that `keybindings.json` uses. */
export const ACTIONS = {
  "app.interrupt": {
    keys: ["escape"],
    label: "Stop what is running; twice on an empty prompt: the session tree",
  },
  "app.clear": { keys: ["ctrl+c"], label: "Clear the prompt; twice: leave" },
  "app.exit": { keys: ["ctrl+d"], label: "Leave, on an empty prompt" },
  "app.suspend": { keys: ["ctrl+z"], label: "Suspend; fg brings it back" },
  "app.approvalMode": { keys: ["shift+tab"], label: "Next approval mode" },
  "app.expandResult": { keys: ["ctrl+o"], label: "The last result in full, in the pager" },
  "app.externalEditor": { keys: ["ctrl+g"], label: "Write the prompt in $VISUAL or $EDITOR" },
  "app.historySearch": { keys: ["ctrl+r"], label: "Search earlier prompts" },
  "app.takeBack": { keys: ["alt+up"], label: "Take back the last queued message" },
  "app.model": { keys: ["ctrl+l"], label: "Choose a model" },
  "app.thinking": { keys: ["ctrl+t"], label: "Choose how hard the model thinks" },
  "approval.once": { keys: ["y", "enter"], label: "Allow once" },
  "approval.session": { keys: ["a"], label: "Allow always, in this session" },
  "approval.project": { keys: ["p"], label: "Allow always, in this project" },
  "approval.reject": { keys: ["n", "escape"], label: "Reject, which ends the turn" },
  "approval.rejectWithMessage": { keys: ["m"], label: "Reject with a message to the model" },
  "approval.edit": { keys: ["e"], label: "Edit the command" },
  "list.up": { keys: ["up", "ctrl+p"], label: "Up" },
  "list.down": { keys: ["down", "ctrl+n"], label: "Down" },
  "list.pageUp": { keys: ["pageUp"], label: "A page up" },
  "list.pageDown": { keys: ["pageDown"], label: "A page down" },
  "list.choose": { keys: ["enter"], label: "Choose" },
  "list.close": { keys: ["escape", "ctrl+c"], label: "Close" },
} as const satisfies Record<string, ActionDefinition>;

interface ActionDefinition {
  keys: readonly string[];
  label: string;
}

export type ActionId = keyof typeof ACTIONS;
