import { z } from "zod";
import type { Tool } from "../tool/types.ts";
import { createTargetGate } from "./target/approved-target.ts";
import type { Workspace } from "./workspace.ts";

const parameters = z.strictObject({
  file_path: z.string(),
  offset: z.int().min(0).optional().describe("First line, from 1"),
  limit: z.int().min(1).optional().describe("Number of lines"),
});

export type ReadArguments = z.output<typeof parameters>;

/** Shows a text file as numbered lines, or an image. Nothing but a regular file is opened, and none is read further than needed. */
export function createReadTool(workspace: Workspace): Tool<typeof parameters> {
  const gate = createTargetGate(workspace, { toolName: "read", permission: "read" });
  return {
    name: "read",
    description:
      "Read a text file, as line number, tab, text (2,000 lines at most), or look at an image (PNG, JPEG, GIF, WebP). " +
      "Paths may be relative to the working directory. Read a file before you edit or overwrite it.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { signal }) {
      const { readFile } = await import("./read/read-file.ts");
      return readFile(workspace, gate.locate(args), { args, signal });
    },
  };
}
