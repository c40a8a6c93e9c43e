import { expect, test } from "bun:test";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { SessionAgents } from "../../src/extensions/agents/session-agents.ts";
import { type ExtensionLoader, HarnessExtensions } from "../../src/harness/extensions.ts";
import { createProjectHarness } from "../../src/harness/harness.ts";
import type { HarnessExtension, SessionScope } from "../../src/harness/types.ts";
import type { StreamFunction } from "../../src/index.ts";
import { createProviderStream, EMPTY_USAGE } from "../../src/providers.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const MODEL = { id: "echo-1", provider: "echo", contextWindow: 32_000, maxOutputTokens: 1_000 };

function makeCounter(name: string): HarnessExtension {
  const parameters = z.object({});
  return {
    name,
    openSession: ({ sessionId }) => ({
      tools: [
        {
          name: `${name}_id`,
          description: "The session.",
          parameters,
          execute: async () => ({ output: sessionId }),
        },
      ],
      promptSection: `This is session ${sessionId}.`,
      notices: [{ level: "info", code: "opened", message: `opened ${name}` }],
    }),
    close() {},
  };
}

async function openHarness(extensions: HarnessExtension[]) {
  const home = realpathSync(makeTempDir());
  const cwd = join(home, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  const environment = { HOME: home, PATH: process.env.PATH };
  const overrides = { persist: false, builtinTools: false, extensions };
  return createProjectHarness({ cwd, environment, overrides });
}

test("an extension adds to each session its own tools, prompt section and notices", async () => {
  const requests: { prompt: string | undefined; tools: string[] }[] = [];
  const streamFunction: StreamFunction = (model, { systemPrompt, tools }) => {
    requests.push({ prompt: systemPrompt, tools: tools.map(({ name }) => name) });
    const stream = createProviderStream();
    const content = [{ type: "text" as const, text: "Yes." }];
    const message = {
      ...{ role: "assistant" as const, model: model.id, usage: EMPTY_USAGE, timestamp: 0 },
      ...{ content, stopReason: "end_turn" as const },
    };
    stream.push({ type: "start" });
    stream.push({ type: "done", stopReason: "end_turn", message });
    return stream;
  };
  const scopes: SessionScope[] = [];
  const closed: string[] = [];
  const watching: HarnessExtension = {
    name: "watching",
    openSession(scope) {
      scopes.push(scope);
      return { close: () => void closed.push(scope.sessionId) };
    },
    close() {},
  };
  const harness = await openHarness([makeCounter("counter"), watching]);
  const ids: string[] = [];
  for (const question of ["first", "second"]) {
    const opened = await harness.openSession({ fresh: true }, { model: { model: MODEL, streamFunction } });
    ids.push(opened.session.sessionId);
    expect(opened.notices.map(({ message }) => message)).toContain("opened counter");
    await opened.session.run({ role: "user", content: question, timestamp: 0 }).result();
    opened.close();
  }
  await harness.close();
  expect(requests.map(({ tools }) => tools)).toEqual([["counter_id"], ["counter_id"]]);
  expect(requests.map(({ prompt }, index) => prompt?.includes(`This is session ${ids[index]}.`))).toEqual([
    true,
    true,
  ]);
  expect(scopes.map(({ sessionId, isAttended, model }) => [sessionId, isAttended, model().id])).toEqual(
    ids.map((id) => [id, false, "echo-1"]),
  );
  expect(closed).toEqual(ids);
});

test("what the program loads itself is loaded once, only where it is wanted, and again after a failure", async () => {
  const harness = await openHarness([]);
  const { cwd, environment, loaded } = harness;
  const events: string[] = [];
  const makeLoader = (name: string, isWanted: boolean, failures = 0): ExtensionLoader => {
    let left = failures;
    return {
      name,
      isWanted: () => isWanted,
      async load() {
        events.push(`load ${name}`);
        if (left-- > 0) throw new Error(`${name} is damaged`);
        return { name, close: () => void events.push(`close ${name}`) };
      },
    };
  };
  const given: HarnessExtension = { name: "given", close: () => void events.push("close given") };
  const loaders = [makeLoader("wanted", true, 1), makeLoader("not wanted", false)];
  const extensions = new HarnessExtensions(
    [given],
    {
      ...{
        cwd,
        environment,
        loaded,
        isPersistent: false,
        harness,
        plugins: async () => ({ active: [], inactive: [], problems: [] }),
        hasBuiltinTools: false,
      },
      trust: () => Promise.reject(new Error("not used")),
      agentsOf: () => new SessionAgents(),
      openAgent: () => Promise.reject(new Error("There are no sub-agents here.")),
    },
    loaders,
  );
  expect(extensions.all).toEqual([given]);
  await expect(extensions.open()).rejects.toThrow("wanted is damaged");
  const opened = await extensions.open();
  expect(opened.map(({ name }) => name)).toEqual(["given", "wanted"]);
  expect((await extensions.open()).length).toBe(2);
  await extensions.close();
  await harness.close();
  expect(events).toEqual(["load wanted", "load wanted", "close given", "close wanted"]);
});
