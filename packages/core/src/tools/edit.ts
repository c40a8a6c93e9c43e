import type { z } from "zod";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { EditParameters } from "./parameters.ts";
import { createTargetGate } from "./target.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, validated by `editParameters`. */
export type EditArguments = z.output<EditParameters>;

/** Replaces a piece of text in a file that the session has read. Every byte outside of it stays, line ends included. */
export function createEditTool(workspace: Workspace): Tool<EditParameters> {
  const gate = createTargetGate(workspace, { toolName: "edit", permission: "write" });
  return {
    name: "edit",
    description:
      "Replace old_string by new_string in a file that was read in this session. old_string must occur exactly once " +
      "(give enough lines around it), unless replace_all is true.",
    get parameters() {
      return loadParameters().editParameters;
    },
    inputSchema: INPUT_SCHEMAS.edit,
    changesFiles: true,
    approval: gate.approval,
    // The implementation is loaded with the first edit: describing the tool to a model does not need it.
    async preview(args) {
      const { previewEdit, toEditRequest } = await import("./edit/edit-file.ts");
      return previewEdit(workspace, gate.locate(args), toEditRequest(args));
    },
    async execute(args, { signal }) {
      const { editFile, toEditRequest } = await import("./edit/edit-file.ts");
      const request = toEditRequest(args);
      return editFile(workspace, { locate: () => gate.locate(args), signal }, request);
    },
  };
}
