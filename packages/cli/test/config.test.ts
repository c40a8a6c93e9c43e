import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createProjectHarness } from "@diligent/core/harness";
import { makeTempDir } from "../../core/test/support/temp-dir.ts";
import type { RunCommandOptions } from "../src/arguments/command.ts";
import { resolveConfig } from "../src/config.ts";
import { UsageError } from "../src/errors.ts";
import { FakeIo } from "./support/fake-io.ts";
import { createTemporaryProject } from "./support/temporary-project.ts";

const OPTIONS: RunCommandOptions = { isSaved: true, isVerbose: false };
const ASK = { approvalDefault: "ask" as const };

test("each option of the command line overrides a setting of the files", () => {
  const { overrides } = resolveConfig(
    {
      isSaved: false,
      isVerbose: true,
      approval: "plan",
      maxTurns: 3,
      maxCost: 0.5,
      appendSystemPrompt: "Be brief.",
      record: "run.json",
    },
    new FakeIo(),
    ASK,
  );
  expect(overrides).toMatchObject({
    persist: false,
    isVerbose: true,
    approvalMode: "plan",
    defaultApprovalMode: "ask",
    maxTurns: 3,
    maxCost: 0.5,
    appendSystemPrompt: "Be brief.",
    record: "run.json",
  });
});

test("the layers below the command line are those of the directory given with -C, by its real path", async () => {
  const place = createTemporaryProject();
  place.configure({ maxTurns: 7, approval: "deny" });
  place.write("diligent.jsonc", { maxTurns: 5 });
  const link = join(place.top, "link");
  symlinkSync(place.project, link);
  const io = new FakeIo();
  io.cwd = place.top;
  io.environment = { HOME: place.home };
  const { cwd, overrides } = resolveConfig({ ...OPTIONS, directory: "link", approval: "plan" }, io, ASK);
  expect(cwd).toBe(place.project);
  const harness = await createProjectHarness({ cwd, environment: io.environment, overrides });
  expect(harness.loaded.config).toMatchObject({ maxTurns: 5, approval: "deny" });
  await harness.close();
  place.remove();
});

test("an unusable directory is a usage error", () => {
  const io = new FakeIo();
  io.cwd = makeTempDir();
  expect(() => resolveConfig({ ...OPTIONS, directory: "missing" }, io, ASK)).toThrow(UsageError);
  mkdirSync(join(io.cwd, "there"));
  expect(resolveConfig({ ...OPTIONS, directory: "there" }, io, ASK).cwd).toBe(join(io.cwd, "there"));
});

test("configuration warnings go to stderr, or to the front end; text that a command may have written is escaped", async () => {
  const io = new FakeIo();
  resolveConfig(OPTIONS, io, ASK).overrides.warn?.("first", "approvals");
  const warnings: string[] = [];
  const { warn } = resolveConfig(OPTIONS, io, { ...ASK, warn: (text) => void warnings.push(text) }).overrides;
  warn?.("second", "recording");
  warn?.("third\u001b[2J", "sandbox");
  // The escaped one loads its code first.
  while (warnings.length < 2) await Bun.sleep(1);
  expect([io.stderr.text, warnings]).toEqual(["first\n", ["second", "third\\x1b[2J"]]);
});
