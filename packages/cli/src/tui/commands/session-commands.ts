import { existsSync } from "node:fs";
import { join } from "node:path";
import { toSingleLine } from "../../text/terminal-text.ts";
import { notice } from "../view.ts";
import { note, type SlashCommand } from "./types.ts";

/** `/fork`: the following messages go to a new session file. */
export const FORK: SlashCommand = {
  name: "fork",
  description: "Fork this session and continue in the copy",
  async run(_, context) {
    const { session: before } = await context.session();
    if (before.leafId === null) return note(context, "No messages yet.");
    await context.reopen({ how: "fork" });
    const { session } = await context.session();
    note(context, `Forked ${before.sessionId}; continuing in ${session.sessionId}.`);
  },
};

/**
 * `/history`: opens the list of earlier prompts; the chosen one is put into the editor. With words, the list of the
 * sessions in which they occur, of all projects and agents.
 */
export const HISTORY: SlashCommand = {
  name: "history",
  description: "List earlier prompts; search all sessions for WORDS",
  argumentHint: "[WORDS]",
  isAlwaysPossible: true,
  opensList: true,
  async run(argument, context) {
    if (argument !== "") {
      const { historySearchPicker } = await import("../pickers/history-search.ts");
      const found = await historySearchPicker(argument, context);
      if (found) context.open(found);
      else note(context, "Nothing found.");
      return;
    }
    const { historyPicker } = await import("../pickers/history.ts");
    const picker = await historyPicker(context);
    if (picker) context.open(picker);
    else note(context, "No prompts yet.");
  },
};

const MAX_SHOWN_COLUMNS = 60;
const MAX_NAME_CHARACTERS = 200;

/** `/name`: names the session, in one line of at most 200 characters; without a text it shows the name. */
export const NAME: SlashCommand = {
  name: "name",
  aliases: ["rename"],
  description: "Name this session",
  argumentHint: "TEXT",
  isAlwaysPossible: true,
  async run(argument, context) {
    const { session } = await context.session();
    const name = argument.replace(/\s+/g, " ").slice(0, MAX_NAME_CHARACTERS).toWellFormed();
    if (name !== "") session.rename(name);
    const { name: given } = session.branches;
    if (given === undefined) note(context, "This session has no name; /name TEXT gives it one.");
    else {
      const shown = toSingleLine(given, MAX_SHOWN_COLUMNS);
      note(context, name === "" ? `Session name: ${shown}` : `Session renamed to ${shown}.`);
    }
  },
};

/** `/new`: the model knows nothing of earlier messages; the model and its effort stay. */
export const NEW: SlashCommand = {
  name: "new",
  aliases: ["clear"],
  description: "Start a new session",
  async run(_, context) {
    const { session: before } = await context.session();
    before.flush();
    const isSaved = before.sessionPath !== undefined;
    await context.reopen({ how: "new" });
    note(context, `New session started.${isSaved ? " The previous one is saved; /resume reopens it." : ""}`);
  },
};

/** `/resume`: continues the session named as for `--resume`, or opens the list of this project's sessions. */
export const RESUME: SlashCommand = {
  name: "resume",
  aliases: ["sessions", "continue"],
  description: "Find and resume an earlier session",
  argumentHint: "[REF]",
  opensList: true,
  async run(argument, context) {
    if (argument !== "") return context.reopen({ how: "continue", reference: argument });
    const { sessionsPicker } = await import("../pickers/sessions.ts");
    const picker = await sessionsPicker(context);
    if (picker) context.open(picker);
    else note(context, "No sessions in this project yet.");
  },
};

/** `/tree`: continues after the entry with this id, or opens the list of all entries. */
export const TREE: SlashCommand = {
  name: "tree",
  aliases: ["branches", "rewind"],
  description: "Show all branches; continue from any message",
  argumentHint: "[ID]",
  opensList: true,
  async run(argument, context) {
    const { goToEntry, treePicker } = await import("../pickers/tree.ts");
    if (argument !== "") return goToEntry(argument, context);
    const picker = await treePicker(context);
    if (picker) context.open(picker);
    else note(context, "No messages yet.");
  },
};

/** `/reload`: opens the same conversation again. @throws UsageError on failure; nothing changes then. */
export const RELOAD: SlashCommand = {
  name: "reload",
  description: "Reload configuration, instructions and knowledge",
  async run(_, context) {
    await context.reopen({ how: "reload" });
    for (const problem of (await context.reloadKeys?.()) ?? []) context.show(notice("warning", problem));
    note(
      context,
      `Configuration, instructions${context.reloadKeys ? ", keys" : ""} and knowledge reloaded. The conversation is unchanged.`,
    );
  },
};

/** `/quit`: quits with exit code 0; running tasks are stopped. */
export const QUIT: SlashCommand = {
  name: "quit",
  aliases: ["exit", "q"],
  description: "Quit; the session is saved",
  isAlwaysPossible: true,
  run: (_, { quit }) => quit(),
};

const FILES = ["CLAUDE.md", "AGENTS.md"] as const;
const DEFAULT_FILE = "AGENTS.md";

/** `/init`: sends a prompt that makes the model write the project's instructions, or review existing ones. */
export const INIT: SlashCommand = {
  name: "init",
  description: "Let the model write a CLAUDE.md or AGENTS.md",
  argumentHint: "[FILE]",
  async run(argument, context) {
    const wanted = FILES.find((file) => file.toLowerCase() === argument.toLowerCase());
    if (argument !== "" && wanted === undefined) {
      throw new Error(`/init writes ${FILES.join(" or ")}, not ${argument}.`);
    }
    const { loaded } = await context.session();
    const existing = FILES.find((file) => existsSync(join(loaded.projectRoot, file)));
    const file = wanted ?? existing ?? DEFAULT_FILE;
    const path = join(loaded.projectRoot, file);
    const isThere = existsSync(path);
    const { default: prompt } = await import("./init-prompt.md", { with: { type: "text" } });
    const { default: update } = await import("./init-update-prompt.md", { with: { type: "text" } });
    context.send(joinLines(isThere ? update : prompt).replaceAll("{path}", path));
    note(
      context,
      `${file} ${isThere ? "exists and is being updated" : "is being written"}; run /reload to use it.`,
    );
  },
  complete: (prefix) => FILES.filter((file) => file.startsWith(prefix)),
};

/** Each paragraph and each item is one line: the screen wraps it. */
function joinLines(text: string): string {
  return text.trim().replace(/(\S)[ \t]*\n[ \t]*(?=[^\s-])/g, "$1 ");
}
