import type { z } from "zod";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { ReadParameters } from "./parameters.ts";
import { createTargetGate } from "./target.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, validated by `readParameters`. */
export type ReadArguments = z.output<ReadParameters>;

/**
 * Shows a text file as numbered lines, or an image. Only regular files are opened, and none is read further than
 * needed.
 */
export function createReadTool(workspace: Workspace): Tool<ReadParameters> {
  const gate = createTargetGate(workspace, { toolName: "read", permission: "read" });
  return {
    name: "read",
    description:
      "Read a text file, as line number, tab, text (2,000 lines at most), or look at an image (PNG, JPEG, GIF, WebP). " +
      "Paths may be relative to the working directory. Read a file before you edit or overwrite it.",
    get parameters() {
      return loadParameters().readParameters;
    },
    inputSchema: INPUT_SCHEMAS.read,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { signal }) {
      const { readFile } = await import("./read/read-file.ts");
      return readFile(workspace, gate.locate(args), { args, signal });
    },
  };
}
