import { expect, test } from "bun:test";
import { UsageError } from "../../../src/harness/errors.ts";
import { createScriptedStream, scriptedModel } from "../../../src/provider/scripted.ts";
import { call, createServerStage, testServer } from "../../support/mcp-stage.ts";

const auto = { approvalMode: "auto" } as const;

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(5);
}

async function openSession(...behaviours: string[]) {
  const stage = createServerStage({ local: testServer(...behaviours) });
  // Afterwards it is known what the server offers.
  await stage.play([call("mcp__local__echo", { text: "hi" }), { text: "Done." }], auto);
  const harness = await stage.open();
  const script = {
    version: 1 as const,
    turns: [call("mcp__local__echo", { text: "hi" }), { text: "Done." }],
  };
  const model = {
    model: scriptedModel("test.json", script),
    streamFunction: createScriptedStream(script, { startAtTurn: 0 }),
  };
  const opened = await harness.openSession({ fresh: true }, { model, ...auto });
  return { opened, harness, signal: new AbortController().signal, stage };
}

test("a resource is listed and read by the model, and by what a prompt mentions", async () => {
  const { opened, signal, stage } = await openSession("resources");
  expect(opened.listMentions()).toEqual(["local:note://1"]);
  expect((await opened.readMention("local:note://7", signal))?.output).toBe(
    "[resource note://7]\ncontent of note://7",
  );
  expect(await opened.readMention("other:note://7", signal)).toBeUndefined();
  const { results, requests } = await stage.play(
    [
      call("mcp_resource", { server: "local" }),
      call("mcp_resource", { server: "local", uri: "note://1" }),
      call("mcp_resource", { server: "none" }),
      { text: "Done." },
    ],
    auto,
  );
  expect(requests[0]?.tools).toContain("mcp_resource");
  expect(results.map(({ output }) => output)).toEqual([
    "note://1  one: the first\nnote://{id}  any note",
    "[resource note://1]\ncontent of note://1",
    'There is no server "none". The servers are: local.',
  ]);
});

test("prompts and resources that a server adds while it runs are offered", async () => {
  const { opened, signal } = await openSession("resources", "prompts", "adds");
  await opened.expandLine("/mcp restart local", signal);
  const run = opened.session.run({ role: "user", content: "Go.", timestamp: 0 });
  await run.result();
  await until(() => opened.listMentions().includes("local:note://2"));
  await until(() => opened.extensionCommands.some(({ name }) => name === "mcp__local__part"));
});

test("a prompt of a server is a command with arguments", async () => {
  const { opened, signal } = await openSession("prompts");
  const listed = opened.extensionCommands.find(({ name }) => name === "mcp__local__greet");
  expect(listed).toMatchObject({ description: "Greets", argumentHint: "<who>", source: "server local" });
  const expanded = await opened.expandLine("/mcp__local__greet the whole world", signal);
  expect(expanded).toMatchObject({ text: "Say hello to the whole world" });
  await expect(opened.expandLine("/mcp__local__greet", signal)).rejects.toThrow(
    new UsageError("The prompt greet needs who."),
  );
});

test("the arguments of a prompt are completed by its server once it runs", async () => {
  const { opened, signal } = await openSession("prompts");
  const find = () => opened.extensionCommands.find(({ name }) => name === "mcp__local__greet");
  expect(await find()?.complete?.("A")).toEqual([]);
  await opened.expandLine("/mcp restart local", signal);
  expect(await find()?.complete?.("A")).toEqual(["Ada", "Alan"]);
  expect(await find()?.complete?.("who=G")).toEqual(['who="Grace Hopper"']);
  expect(await find()?.complete?.("Ada X")).toEqual([]);
});

test("/mcp shows state, tools, log and restarts", async () => {
  const { opened, signal } = await openSession("stderr");
  const run = async (line: string) => {
    const expanded = await opened.expandLine(line, signal);
    return expanded?.kind === "output" ? expanded.text : undefined;
  };
  expect(await run("/mcp restart local")).toStartWith("local: ready, 2 tools (");
  expect(await run("/mcp")).toContain("local: ready, 2 tools");
  expect(await run("/mcp tools local")).toBe("echo  Echoes its text\nrun  Runs a behaviour by name");
  expect(await run("/mcp log local")).toContain("secret plan: boom");
  // The level is asked for without waiting.
  await until(async () => (await run("/mcp log local"))?.includes("level info") === true);
  expect(await run("/mcp log nothing")).toContain("The servers are: local.");
});
