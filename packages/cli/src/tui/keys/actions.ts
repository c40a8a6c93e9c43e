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
  "approval.focus": { keys: ["tab"], label: "Answer a question that came while you were writing" },
  "approval.once": { keys: ["y"], label: "Allow once" },
  "approval.session": { keys: ["a"], label: "Allow always, in this session" },
  "approval.project": { keys: ["p"], label: "Allow always, in this project" },
  "approval.reject": { keys: ["n", "escape"], label: "Reject, which ends the turn" },
  "approval.rejectWithMessage": { keys: ["m"], label: "Reject with a message to the model" },
  "approval.edit": { keys: ["e"], label: "Edit the command" },
  "approval.pageDown": { keys: ["space"], label: "A page down in what is asked" },
  "list.up": { keys: ["up", "ctrl+p"], label: "Up" },
  "list.down": { keys: ["down", "ctrl+n"], label: "Down" },
  "list.pageUp": { keys: ["pageUp"], label: "A page up" },
  "list.pageDown": { keys: ["pageDown"], label: "A page down" },
  "list.first": { keys: ["home"], label: "The first one" },
  "list.last": { keys: ["end"], label: "The last one" },
  "list.choose": { keys: ["enter"], label: "Choose" },
  "list.close": { keys: ["escape", "ctrl+c"], label: "Close" },
  "list.delete": { keys: ["ctrl+d"], label: "Delete a session, forget knowledge, take a permission back" },
  "list.rename": { keys: ["ctrl+r"], label: "Rename a session" },
  "list.sort": { keys: ["ctrl+s"], label: "Sort the sessions by something else" },
  "list.branches": { keys: ["ctrl+b"], label: "Open a session and show its branches" },
  "list.correct": { keys: ["ctrl+e"], label: "Correct a piece of knowledge" },
  "list.label": { keys: ["ctrl+l"], label: "Label a place in the session tree" },
} as const satisfies Record<string, ActionDefinition>;

interface ActionDefinition {
  keys: readonly string[];
  label: string;
}

/** An id of `ACTIONS`. */
export type ActionId = keyof typeof ACTIONS;
