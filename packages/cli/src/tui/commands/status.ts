import { formatTokens } from "../../progress-lines.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { VERSION } from "../../version.ts";
import { formatCost } from "../parts/status-line.ts";
import { showPath } from "../text/show-path.ts";
import { formatRows } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

const MAX_TEXT_COLUMNS = 400;

/** `/status`: what the status line has no room for: files, the window, the sandbox, trust. */
export const STATUS: SlashCommand = {
  name: "status",
  description: "The session, its model and its place",
  isAlwaysPossible: true,
  async run(_, { columns, session, view, print }) {
    const { status } = view();
    const { session: manager, cwd, loaded, sandbox } = await session();
    const { name } = manager.branches;
    const { sessionPath } = manager;
    const rows = [
      ["session", manager.sessionId],
      ...(name === undefined ? [] : [["name", name]]),
      ["file", sessionPath === undefined ? "not saved yet" : showPath(sessionPath, cwd)],
      ["model", status.model],
      ["thinking", status.effort ?? "as the model does by itself"],
      ["context", `${formatTokens(status.contextTokens)} of ${formatTokens(status.contextWindow)} tokens`],
      ["tokens", formatTokens(status.sessionTokens)],
      ["cost", status.cost === null ? "unknown" : formatCost(status.cost)],
      ["approval", status.approvalMode],
      ["sandbox", toSingleLine(sandbox.text, MAX_TEXT_COLUMNS)],
      ["trust", TRUST_TEXTS[loaded.trust]],
      ["directory", status.cwd],
      ...(status.gitBranch === undefined ? [] : [["branch", status.gitBranch]]),
      ["version", VERSION],
    ];
    print(`This session\n\n${formatRows(rows, { columns: columns() })}`);
  },
};

const TRUST_TEXTS = {
  none: "this project has no configuration",
  untrusted: "this project's configuration is not trusted; see /trust",
  changed: "this project's configuration has changed since it was trusted; see /trust",
  trusted: "this project's configuration is trusted",
};
