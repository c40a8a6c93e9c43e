import type { Tool } from "../tool/types.ts";
import type { UnifiedDiff } from "./edit/unified-diff.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { EditParameters, ReadParameters, WriteParameters } from "./parameters.ts";
import { createTargetGate } from "./target.ts";
import type { Workspace } from "./workspace.ts";

/** What the model is told of a tool; everything when left out. */
export interface OfferOptions {
  isOffered?: (() => boolean) | undefined;
  /** True where its window has no room for arguments that are rarely needed; they are taken all the same. */
  isBrief?: boolean | undefined;
}

/** The schema of a tool without some of its arguments. */
export function withoutArguments<S extends { properties: object }>(schema: S, names: readonly string[]): S {
  const properties = Object.entries(schema.properties).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * Returns a text file as numbered lines, or an image. Only regular files are opened, and none is read further than
 * needed.
 */
export function createReadTool(workspace: Workspace, { isBrief }: OfferOptions = {}): Tool<ReadParameters> {
  const gate = createTargetGate(workspace, { toolName: "read", permission: "read" });
  return {
    name: "read",
    description:
      "Read a text file, as line number, tab, text (2,000 lines at most), a PDF or a notebook, or view an image (PNG, JPEG, GIF, WebP). " +
      "Paths may be relative to the working directory. Read a file before you edit or overwrite it.",
    get parameters() {
      return loadParameters().readParameters;
    },
    inputSchema: isBrief ? withoutArguments(INPUT_SCHEMAS.read, ["encoding"]) : INPUT_SCHEMAS.read,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { signal }) {
      const { readFile } = await import("./read/read-file.ts");
      return gate.toResult(args, await readFile(workspace, gate.locate(args), { args, signal }));
    },
  };
}

const FURTHER_EDITS =
  " Slight differences in white space and quotes are tolerated. For several places of one file, give edits.";

/**
 * Replaces a piece of text in a file that the session has read. Every byte outside of it is kept, including line
 * endings.
 */
export function createEditTool(
  workspace: Workspace,
  { isOffered, isBrief }: OfferOptions = {},
): Tool<EditParameters> {
  const gate = createTargetGate(workspace, { toolName: "edit", permission: "write" });
  return {
    name: "edit",
    description:
      "Replace old_string by new_string in a file that was read in this session. old_string must occur exactly once " +
      `(give enough lines around it), unless replace_all is true.${isBrief ? "" : FURTHER_EDITS}`,
    get parameters() {
      return loadParameters().editParameters;
    },
    inputSchema: isBrief ? withoutArguments(INPUT_SCHEMAS.edit, ["edits"]) : INPUT_SCHEMAS.edit,
    changesFiles: true,
    ...(isOffered && { isOffered }),
    approval: gate.approval,
    // The implementation is loaded with the first edit: describing the tool to a model does not need it.
    async preview(args) {
      const { previewEdit, toEditRequests } = await import("./edit/edit-file.ts");
      return previewEdit(workspace, gate.locate(args), toEditRequests(args));
    },
    async execute(args, { signal }) {
      const { editFile, toEditRequests } = await import("./edit/edit-file.ts");
      const requests = toEditRequests(args);
      const location = { locate: () => gate.locate(args), signal };
      return gate.toResult(args, await editFile(workspace, location, requests));
    },
  };
}

/**
 * Creates a file or replaces the content of one that the session has read. A replaced file keeps its mode, links and
 * byte order mark. It also keeps its line endings: content without any CR is written with the file's most frequent
 * ending, since models write LF and a diff in which every line changes is unreadable. Content with a CR is written
 * unchanged.
 */
export function createWriteTool(
  workspace: Workspace,
  { isOffered }: OfferOptions = {},
): Tool<WriteParameters> {
  const gate = createTargetGate(workspace, { toolName: "write", permission: "write", creates: true });
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
    ...(isOffered && { isOffered }),
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
      const location = { locate: () => gate.locate(args), signal };
      return gate.toResult(args, await writeFile(workspace, location, args.content));
    },
  };
}

/**
 * Compares two texts by line, as a unified diff; see `createUnifiedDiff`. The implementation is loaded on first
 * use.
 */
export async function compareTexts(path: string, before: string, after: string): Promise<UnifiedDiff> {
  const { createUnifiedDiff } = await import("./edit/unified-diff.ts");
  return createUnifiedDiff(path, before, after);
}
