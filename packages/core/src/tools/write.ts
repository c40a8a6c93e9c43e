import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { WriteParameters } from "./parameters.ts";
import { createTargetGate } from "./target.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Creates a file or replaces the content of one that the session has read. A replaced file keeps its mode, links
 * and byte order mark. It also keeps its line ends: content without any CR is written with the file's most frequent
 * line end, since models write LF and a diff in which every line changes cannot be read. Content with a CR is
 * written as it is.
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
    // The implementation is loaded with the first call: describing the tool to a model does not need it.
    async preview(args) {
      const { assertWritable, previewWrite } = await import("./edit/write-file.ts");
      assertWritable(args);
      return previewWrite(workspace, gate.locate(args), args.content);
    },
    async execute(args, { signal }) {
      const { assertWritable, writeFile } = await import("./edit/write-file.ts");
      assertWritable(args);
      return writeFile(workspace, { locate: () => gate.locate(args), signal }, args.content);
    },
  };
}
