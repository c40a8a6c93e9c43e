import { expect, test } from "bun:test";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createHarness } from "../../src/harness/harness.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { StreamFunction, StreamOptions } from "../../src/provider/types.ts";
import { user } from "../support/agent-run.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test.each([undefined, Number.POSITIVE_INFINITY])(
  "requests of a session are retried for as long as its front end says: %p",
  async (retryForMs) => {
    const directory = realpathSync(makeTempDir());
    const cwd = join(directory, "project");
    mkdirSync(join(cwd, ".git"), { recursive: true });
    const script = parseScript(JSON.stringify({ version: 1, turns: [{ text: "Done." }] }), "own.json");
    const asked: (number | undefined)[] = [];
    const answer = createScriptedStream(script);
    const streamFunction: StreamFunction = (model, context, options: StreamOptions) => {
      asked.push(options.retryForMs);
      return answer(model, context, options);
    };
    const harness = await createHarness({ cwd, environment: { HOME: directory, PATH: process.env.PATH } });
    const model = { model: scriptedModel("own.json", script), streamFunction };
    const { session } = await harness.openSession({ fresh: true }, { model, retryForMs });
    await session.run(user("go")).result();
    await harness.close();
    expect(asked).toEqual([retryForMs]);
  },
);
