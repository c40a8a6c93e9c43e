import { COMPACT } from "./compact.ts";
import { CONFIG } from "./config.ts";
import { CONTEXT } from "./context.ts";
import { COPY } from "./copy.ts";
import { COST } from "./cost.ts";
import { DIFF } from "./diff.ts";
import { EDITOR } from "./editor.ts";
import { EXPORT } from "./export.ts";
import { FORK } from "./fork.ts";
import { HELP } from "./help.ts";
import { HISTORY } from "./history.ts";
import { INIT } from "./init.ts";
import { KEYS } from "./keys.ts";
import { KNOWLEDGE } from "./knowledge.ts";
import { MODEL } from "./model.ts";
import { NAME } from "./name.ts";
import { NEW } from "./new.ts";
import { PERMISSIONS } from "./permissions.ts";
import { QUIT } from "./quit.ts";
import { REDO } from "./redo.ts";
import { RELOAD } from "./reload.ts";
import { RESULT } from "./result.ts";
import { RESUME } from "./resume.ts";
import { STATUS } from "./status.ts";
import { THINKING } from "./thinking.ts";
import { TREE } from "./tree.ts";
import { TRUST } from "./trust.ts";
import type { SlashCommand } from "./types.ts";
import { UNDO } from "./undo.ts";

/** Every slash command, in the order of the help: the session, the model, what it knows, what it did, the program. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  HELP,
  ...[NEW, RESUME, NAME, TREE, FORK, COMPACT],
  ...[MODEL, THINKING, CONTEXT, COST, STATUS],
  ...[INIT, KNOWLEDGE],
  ...[DIFF, UNDO, REDO, RESULT, COPY, EXPORT],
  ...[CONFIG, PERMISSIONS, TRUST, RELOAD],
  ...[KEYS, HISTORY, EDITOR, QUIT],
];
