import type { Tool } from "../../tool/types.ts";
import INPUT_SCHEMAS from "../../tools/input-schemas.json";
import { loadParameters } from "../../tools/load-parameters.ts";
import type { LspParameters } from "../../tools/parameters.ts";
import { createTargetGate } from "../../tools/target.ts";
import type { Workspace } from "../../tools/workspace.ts";
import type { LanguageServers } from "./servers.ts";

/** What the tool needs. */
interface LspToolOptions {
  workspace: Workspace;
  isOffered(): boolean;
  open(): Promise<LanguageServers>;
}

/** Asks a language server about the code. Only a rename changes files, by a call of its own that asks for approval. */
export function createLspTool({ workspace, isOffered, open }: LspToolOptions): Tool {
  const gate = createTargetGate(workspace, { toolName: "lsp", permission: "read" });
  const tool: Tool<LspParameters> = {
    name: "lsp",
    description:
      "Ask the language server: where a name is defined or used, its type, the symbols of a file (or query, in the " +
      "project), the errors of a file, or to rename in all files. Lines and columns count from 1; " +
      "instead of column, give the name in line as query.",
    get parameters() {
      return loadParameters().lspParameters;
    },
    inputSchema: INPUT_SCHEMAS.lsp,
    readOnly: true,
    runsAlone: ({ action }) => action === "rename",
    isOffered,
    approval: ({ file_path }) => gate.approval({ file_path: file_path || workspace.root }),
    async execute(args, { signal, perform }) {
      const { askServer } = await import("./ask-server.ts");
      const { root } = workspace;
      const { realPath } = args.file_path ? gate.locate({ file_path: args.file_path }) : {};
      return askServer(await open(), { ...args, path: realPath }, { root, workspace, signal, perform });
    },
  };
  return tool;
}
