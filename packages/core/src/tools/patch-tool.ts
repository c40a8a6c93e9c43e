import type { ApprovalRequest, Tool } from "../tool/types.ts";
import type { OfferOptions } from "./file-tools.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { ApplyPatchParameters } from "./parameters.ts";
import type { LocatedPatch } from "./patch/apply-patch.ts";
import { parsePatch } from "./patch/parse-patch.ts";
import { createTargetGate } from "./target.ts";
import type { Workspace } from "./workspace.ts";

interface PatchArguments {
  patch: string;
}

/**
 * Changes several files by one patch in the format that OpenAI's models are trained on, all of them or none. It needs no
 * reading before: the unchanged lines of a hunk have to be in the file.
 */
export function createApplyPatchTool(
  workspace: Workspace,
  { isOffered }: OfferOptions = {},
): Tool<ApplyPatchParameters> {
  const existing = createTargetGate(workspace, { toolName: "apply_patch", permission: "write" });
  const created = createTargetGate(workspace, {
    toolName: "apply_patch",
    permission: "write",
    creates: true,
  });
  const requests = new WeakMap<PatchArguments, ParsedCall>();
  const parse = (args: PatchArguments) => {
    const parsed = requests.get(args) ?? parseCall(args, { existing, created });
    requests.set(args, parsed);
    return parsed;
  };
  return {
    name: "apply_patch",
    description:
      "Change files by a patch, all or none. Unchanged lines around a change must be in the file; @@ LINE names the " +
      "function or class it is in. Paths are relative to the working directory.\n" +
      "*** Begin Patch\n*** Add File: a.py\n+line\n*** Update File: b.py\n*** Move to: c.py\n@@ def f():\n unchanged\n-old\n+new\n" +
      "*** Delete File: d.py\n*** End Patch",
    get parameters() {
      return loadParameters().applyPatchParameters;
    },
    inputSchema: INPUT_SCHEMAS.apply_patch,
    changesFiles: true,
    ...(isOffered && { isOffered }),
    approval(args) {
      // An invalid patch needs no answer: the call reports what is wrong with it.
      const parsed = tryParse(() => parse(args));
      return parsed && toRequest(parsed.map(({ approval }) => approval).flatMap((approve) => approve()));
    },
    async preview(args) {
      const { previewPatch } = await import("./patch/apply-patch.ts");
      return previewPatch(workspace, parse(args));
    },
    async execute(args, { signal }) {
      const { applyPatch } = await import("./patch/apply-patch.ts");
      return applyPatch(workspace, parse(args), signal);
    },
  };
}

type ParsedCall = readonly (LocatedPatch & { approval(): ApprovalRequest[] })[];

type Gates = Record<"existing" | "created", ReturnType<typeof createTargetGate>>;

/** @throws Error for an invalid patch. */
function parseCall({ patch }: PatchArguments, { existing, created }: Gates): ParsedCall {
  return parsePatch(patch).map((section) => {
    const gate = section.kind === "add" ? created : existing;
    const args = { file_path: section.path };
    const moved = section.kind === "update" && section.moveTo !== undefined && { file_path: section.moveTo };
    return {
      patch: section,
      approval: () => [gate.approval(args), ...(moved ? [created.approval(moved)] : [])],
      locate: () => gate.locate(args),
      locateNew: moved ? () => created.locate(moved) : undefined,
    };
  });
}

function tryParse<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined; // Thrown again when the call runs.
  }
}

const MAX_NAMED = 5;

/** One request for all files: `files` in its details are those that need the permission. */
function toRequest(requests: readonly ApprovalRequest[]): ApprovalRequest | undefined {
  const [first] = requests;
  if (!first || requests.length === 1) return first;
  const names = requests.map(({ description }) => description.replace(/^apply_patch: /, ""));
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : "";
  return {
    ...first,
    description: `apply_patch: ${names.slice(0, MAX_NAMED).join(", ")}${more}`,
    details: { files: requests.map(({ details }) => details ?? {}) },
  };
}
