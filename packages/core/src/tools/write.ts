import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { WriteParameters } from "./parameters.ts";
import { createTargetGate } from "./target/approved-target.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Makes a file or replaces the content of one that the session has read. A replaced file keeps its mode, links and byte
 * order mark. It also keeps its line ends: content without any CR is written with the file's most frequent line end,
 * since models write LF and a file whose every line changes is no readable change. Content with a CR is written as it is.
 */
export function createWriteTool(workspace: Workspace): Tool<WriteParameters> {
  const gate = createTargetGate(workspace, { toolName: "write", permission: "write" });
  return {
    name: "write",
    description:
      "Create a file, with its directories, or replace the whole content of one that was read in this session. " +
      "To change a part of a file, use edit.",
    get parameters() {
      return loadParameters().writeParameters;
    },
    inputSchema: INPUT_SCHEMAS.write,
    changesFiles: true,
    approval: gate.approval,
    // How it is done is loaded with the first call: none of it is needed to tell a model that there is such a tool.
    async preview(args) {
      const { assertWritable, previewWrite } = await import("./write/write-content.ts");
      assertWritable(args);
      return previewWrite(workspace, gate.locate(args), args.content);
    },
    async execute(args, { signal }) {
      const { assertWritable, writeFile } = await import("./write/write-content.ts");
      assertWritable(args);
      const target = gate.locate(args);
      signal.throwIfAborted();
      return writeFile(workspace, target, args.content);
    },
  };
}
