import { join } from "node:path";
import { SessionJobs } from "../src/jobs/session-jobs.ts";
import { toInputSchema } from "../src/tool/registry.ts";
import {
  createAddKnowledgeTool,
  createAskUserTool,
  createRecallTool,
  createSkillTool,
  createTodoTool,
  createTools,
  createWebFetchTool,
} from "../src/tools/index.ts";
import { lspParameters, taskParameters } from "../src/tools/parameters.ts";
import { FileTracker } from "../src/tools/workspace.ts";

/** What a model is told about the arguments of our tools. A test compares it with the schemas that check them. */
export const INPUT_SCHEMAS_PATH = join(import.meta.dir, "..", "src", "tools", "input-schemas.json");

/** By the names of the tools, in the order in which the fields are sent. */
export function makeInputSchemas(): Record<string, unknown> {
  const place = { cwd: "/", root: "/", environment: {}, sessionId: "" };
  const workspace = {
    ...place,
    files: new FileTracker(),
    outputDirectory: () => undefined,
    jobs: new SessionJobs(),
  };
  const recall = createRecallTool({
    hasHiddenEntries: () => false,
    search: async () => ({ matches: [], isComplete: true }),
    read: async () => undefined,
  });
  const tools = [
    ...createTools(workspace, { offersPatches: () => true }),
    createAddKnowledgeTool("/"),
    recall,
    createTodoTool(() => {}),
    createAskUserTool(undefined),
    createSkillTool({ load: async () => ({ output: "" }), read: async () => ({ output: "" }) }),
    createWebFetchTool({ environment: {} }),
    { name: "task", parameters: taskParameters },
    { name: "lsp", parameters: lspParameters },
  ];
  return Object.fromEntries(tools.map((tool) => [tool.name, toInputSchema(tool)]));
}

if (import.meta.main) {
  await Bun.write(INPUT_SCHEMAS_PATH, JSON.stringify(makeInputSchemas(), null, 2));
  // The formatter has its own idea of short lists, and `check` holds every JSON file to it.
  const formatter = Bun.spawnSync(["bunx", "--no-install", "biome", "format", "--write", INPUT_SCHEMAS_PATH]);
  process.exitCode = formatter.exitCode;
}
