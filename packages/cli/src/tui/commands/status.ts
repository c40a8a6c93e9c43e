import { relative } from "node:path";
import { formatTokens } from "../../progress-lines.ts";
import { VERSION } from "../../version.ts";
import { formatCost } from "../parts/status-line.ts";
import { formatRows } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

export const STATUS: SlashCommand = {
  name: "status",
  description: "The session, its model and its place",
  isAlwaysPossible: true,
  async run(_, { columns, session, view, print }) {
    const { status } = view();
    const { session: manager, cwd, loaded } = await session();
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
      ["trust", TRUST_TEXTS[loaded.trust]],
      ["directory", status.cwd],
      ...(status.gitBranch === undefined ? [] : [["branch", status.gitBranch]]),
      ["version", VERSION],
    ];
    print(formatRows(rows, { columns: columns() }));
  },
};

/** From the working directory, where it is below. */
function showPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  return shown.startsWith("..") ? path : shown;
}

const TRUST_TEXTS = {
  none: "this project has no configuration",
  untrusted: "this project's configuration is not trusted; see /trust",
  changed: "this project's configuration has changed since it was trusted; see /trust",
  trusted: "this project's configuration is trusted",
};
