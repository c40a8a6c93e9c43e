import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServerStage } from "../../support/mcp-stage.ts";

test("the code for servers is not loaded without a server", async () => {
  const stage = createServerStage();
  stage.configure({});
  const script = join(stage.home, "start.ts");
  const core = join(import.meta.dir, "../../../src");
  writeFileSync(
    script,
    `const { createProjectHarness } = await import(${JSON.stringify(join(core, "harness/harness.ts"))});
     const harness = await createProjectHarness({ cwd: ${JSON.stringify(stage.project)}, environment: ${JSON.stringify(stage.environment)}, overrides: { persist: false } });
     await harness.openSession({ fresh: true }, { model: { model: { id: "x", provider: "x", contextWindow: 32000, maxOutputTokens: 1000 }, streamFunction: () => {} } });
     console.log(JSON.stringify(Object.keys(require.cache)));
     await harness.close();`,
  );
  const { stdout } = Bun.spawnSync([process.execPath, script]);
  const loaded: string[] = JSON.parse(stdout.toString());
  expect(loaded.some((path) => path.endsWith("harness/harness.ts"))).toBe(true);
  expect(loaded.filter((path) => /src\/mcp\/|modelcontextprotocol/.test(path))).toEqual([]);
});
