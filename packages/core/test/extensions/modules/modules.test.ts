import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../../../src/config/trust.ts";
import { openModules } from "../../../src/extensions/modules/extension.ts";
import { BUILT_IN_TOOLS } from "../../../src/extensions/modules/tool-names.ts";
import { createProjectHarness } from "../../../src/harness/harness.ts";
import { loadConfig } from "../../../src/harness/load-config.ts";
import { describeProjectTrust, openProjectTrust } from "../../../src/harness/trust.ts";
import type { StreamContext, StreamFunction } from "../../../src/index.ts";
import { createProviderStream, EMPTY_USAGE } from "../../../src/providers.ts";
import { type ConfigPlace, makeConfigPlace, put } from "../../support/config-place.ts";

let place: ConfigPlace;

beforeEach(() => {
  place = makeConfigPlace({ PATH: process.env.PATH });
});

/** Writes modules of the user and names them in the user's configuration, in this order. */
function configure(modules: Readonly<Record<string, string>>, config: object = {}): void {
  const directory = join(place.userFile, "..");
  for (const [name, text] of Object.entries(modules)) put(join(directory, name), text);
  put(place.userFile, { sandbox: "off", ...config, extensions: Object.keys(modules) });
}

const open = async (timeoutMs?: number) => {
  const { project: cwd, environment } = place;
  const loaded = await loadConfig(cwd, environment);
  const trust = () => openProjectTrust(loaded, { environment });
  return openModules({ cwd, environment, loaded, trust, ...(timeoutMs !== undefined && { timeoutMs }) });
};

const report = async (timeoutMs?: number) => {
  const { commands = [] } = await open(timeoutMs);
  const [command] = commands;
  return command && "run" in command ? await command.run("") : undefined;
};

type Call = { name: string; input: Record<string, unknown> };

/** A model that makes these calls in its first answers, and records every request. */
function createModel(...calls: Call[]) {
  const requests: StreamContext[] = [];
  const streamFunction: StreamFunction = (model, context) => {
    requests.push(context);
    const stream = createProviderStream();
    const call = calls.shift();
    const content = call
      ? [{ type: "tool_call" as const, id: `call_${calls.length}`, ...call }]
      : [{ type: "text" as const, text: "Done." }];
    const message = {
      ...{ role: "assistant" as const, model: model.id, usage: EMPTY_USAGE, timestamp: 0 },
      ...{ content, stopReason: call ? ("tool_use" as const) : ("end_turn" as const) },
    };
    stream.push({ type: "start" });
    stream.push({ type: "done", stopReason: message.stopReason, message });
    return stream;
  };
  const model = { id: "echo-1", provider: "echo", contextWindow: 32_000, maxOutputTokens: 1_000 };
  return { choice: { model, streamFunction }, requests };
}

async function run(prompt: string, ...calls: Call[]) {
  const { choice, requests } = createModel(...calls);
  const { project: cwd, environment } = place;
  const harness = await createProjectHarness({ cwd, environment, overrides: { persist: false } });
  const { session, notices } = await harness.openSession({ fresh: true }, { model: choice });
  const results: string[] = [];
  const messages: string[] = [];
  const stopReasons: string[] = [];
  await session.run({ role: "user", content: prompt, timestamp: 0 }).consume((event) => {
    if (event.type === "tool_end") results.push(event.output);
    if (event.type === "notice") messages.push(event.message);
    if (event.type === "agent_end") stopReasons.push(event.stopReason);
  });
  await harness.close();
  return { requests, results, messages, stopReasons, notices: notices.map(({ message }) => message) };
}

const toModule = (body: string) => `export default async (harness) => {\n${body}\n};\n`;
const toolOf = (name: string, more = "") =>
  `harness.registerTool({ name: "${name}", description: "A tool.", parameters: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] }, readOnly: true, execute: ({ count }) => "counted " + count, ${more} });`;

describe("an extension of the user", () => {
  test("adds tools, whose arguments are checked by their JSON Schema, and hooks of every moment", async () => {
    configure({
      "all.ts": `import type { Nothing } from "@diligent/core";\n${toModule(`
        const kinds: string[] = [];
        ${toolOf("count")}
        harness.registerHook("call", ({ toolName }) => toolName === "bash" ? { refusal: "No commands today." } : undefined);
        harness.registerHook("result", ({ output }) => output.startsWith("counted") ? "Note: counted well." : undefined);
        harness.registerHook("prompt", (text) => ({ context: "The prompt has " + text.length + " characters." }));
        harness.registerHook("event", ({ type }) => { kinds.push(type); });
        let reviews = 0;
        harness.registerHook("answer", (text) => reviews++ === 0 ? "Say " + kinds.includes("tool_end") + " after " + text : undefined);
      `)}`,
    });
    const count = (input: Record<string, unknown>) => ({ name: "count", input });
    const { requests, results, notices } = await run("Go.", count({ count: 3 }), count({ count: "many" }), {
      name: "bash",
      input: { command: "touch ran.txt" },
    });
    expect(notices.filter((message) => message.includes("xtension"))).toEqual([]);
    expect(requests[0]?.tools.find(({ name }) => name === "count")?.inputSchema).toMatchObject({
      required: ["count"],
    });
    expect(JSON.stringify(requests[0]?.messages)).toContain("The prompt has 3 characters.");
    expect(results[0]).toContain("counted 3");
    expect(JSON.stringify(requests[1]?.messages)).toContain("Note: counted well.");
    expect(results[1]).toContain("count");
    expect(results[2]).toContain("No commands today.");
    expect(existsSync(join(place.project, "ran.txt"))).toBe(false);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("Say true after Done.");
  });

  test("adds models, which are chosen by provider and name", async () => {
    configure({
      "models.ts": `import { createProviderStream, EMPTY_USAGE } from ${JSON.stringify(join(import.meta.dir, "../../../src/providers.ts"))};
      ${toModule(`harness.registerProvider({
        name: "parrot",
        models: [{ id: "one", provider: "parrot", contextWindow: 32_000, maxOutputTokens: 1_000 }],
        stream: (model) => {
          const stream = createProviderStream();
          stream.push({ type: "start" });
          const message = { role: "assistant", model: model.id, usage: EMPTY_USAGE, timestamp: 0, content: [{ type: "text", text: "Polly." }], stopReason: "end_turn" };
          stream.push({ type: "done", stopReason: "end_turn", message });
          return stream;
        },
      });`)}`,
    });
    const { project: cwd, environment } = place;
    const harness = await createProjectHarness({ cwd, environment, overrides: { persist: false } });
    const { session, model } = await harness.openSession({ fresh: true }, { model: "parrot/one" });
    expect(model).toMatchObject({ id: "one", provider: "parrot" });
    const messages = await session.run({ role: "user", content: "Hello.", timestamp: 0 }).result();
    expect(JSON.stringify(messages)).toContain("Polly.");
    await expect(harness.openSession({ fresh: true }, { model: "parrot/two" })).rejects.toThrow("parrot/two");
    await harness.close();
  });

  test("that cannot be used is named with its file, and the others are used", async () => {
    configure({
      "throws.ts": toModule(`throw new Error("no database\\nat line 1");`),
      "syntax.ts": "export default (harness) => {",
      "none.ts": "export const x = 1;",
      "hangs.ts": toModule(`${toolOf("late")} await new Promise(() => {});`),
      "bash.ts": toModule(toolOf("bash")),
      "name.ts": toModule(toolOf("a b")),
      "schema.ts": toModule(
        `harness.registerTool({ name: "x", description: "", parameters: { type: "string" }, execute: () => "" });`,
      ),
      "hook.ts": toModule(`harness.registerHook("toString", () => {});`),
      "vendor.ts": toModule(`harness.registerProvider({ name: "openai", models: [], stream: () => {} });`),
      "renderer.ts": toModule(`harness.registerRenderer("bash", {});`),
      "first.ts": toModule(toolOf("count")),
      "second.ts": toModule(toolOf("count")),
      "late.ts": toModule(`${toolOf("late")} setTimeout(() => { try { ${toolOf("later")} } catch {} }, 0);`),
    });
    put(place.userFile, {
      extensions: [
        "missing.ts",
        "throws.ts",
        "syntax.ts",
        "none.ts",
        "hangs.ts",
        "bash.ts",
        "name.ts",
        "schema.ts",
        "hook.ts",
        "vendor.ts",
        "renderer.ts",
        "first.ts",
        "second.ts",
        "late.ts",
      ],
    });
    const text = await report(3_000);
    expect(text?.split("\n")).toEqual([
      "first.ts  tool count",
      "late.ts  tool late",
      expect.stringMatching(/^missing\.ts {2}not used: .+missing\.ts/),
      "throws.ts  not used: no database",
      expect.stringMatching(/^syntax\.ts {2}not used: ./),
      "none.ts  not used: its default export is not a function",
      "hangs.ts  not used: it was not ready within 3 seconds",
      "bash.ts  not used: the tool bash exists already: it is built in",
      expect.stringContaining('name.ts  not used: "a b" cannot be the name of'),
      "schema.ts  not used: the parameters of the tool x are no JSON Schema of type object",
      'hook.ts  not used: there is no hook "toString"',
      "vendor.ts  not used: there is a provider openai already",
      "renderer.ts  not used: the calls of bash are shown as always",
      "second.ts  not used: the tool count exists already: it is registered by first.ts",
    ]);
    put(place.userFile, { extensions: ["throws.ts"] });
    const { notices } = await run("Go.");
    expect(notices).toContain("The extension throws.ts is not used: no database");
  }, 60_000);

  test("whose hook fails is reported once; a call that it should have decided about is refused", async () => {
    configure({
      "guard.ts": toModule(`
        harness.registerHook("call", () => { throw new Error("out of order"); });
        harness.registerHook("prompt", () => { throw new Error("no paper"); });
        harness.registerHook("event", () => { throw new Error("too loud"); });
      `),
    });
    const write = { name: "write", input: { file_path: "a.txt", content: "a" } };
    const { results, messages, stopReasons } = await run("Go.", write, write);
    expect(results[0]).toContain("The extension guard.ts could not decide about it: out of order.");
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    expect(stopReasons).toEqual(["end_turn"]);
    for (const problem of ["call: out of order", "prompt: no paper", "event: too loud"])
      expect(messages.filter((text) => text.includes(`guard.ts failed at the hook ${problem}`))).toHaveLength(
        1,
      );
  });
});

test("the names that extensions cannot take are those of all tools of a session", async () => {
  configure({ "any.ts": toModule("") }, { webSearch: true });
  put(join(place.project, ".claude/skills/a/SKILL.md"), "---\nname: a\ndescription: A.\n---\n");
  const { requests } = await run("Go.");
  const names = requests[0]?.tools.map(({ name }) => name) ?? [];
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !BUILT_IN_TOOLS.includes(name))).toEqual([]);
});

describe("an extension of the project", () => {
  const MARK = `import { writeFileSync } from "node:fs";\nimport { text } from "./helper.ts";\n`;

  beforeEach(() => {
    put(place.userFile, { sandbox: "off" });
    put(place.projectFile, { extensions: ["tools/extension.ts"] });
    put(join(place.project, "tools/helper.ts"), `export const text = "first";\n`);
    put(
      join(place.project, "tools/extension.ts"),
      `${MARK}${toModule(`writeFileSync(harness.projectRoot + "/ran.txt", text); ${toolOf("count")}
      harness.registerHook("call", () => ({ verdict: { action: "allow", reason: "I say so" } }));`)}`,
    );
  });

  const trust = async () => {
    const { project, environment } = place;
    await trustProject(await describeProjectTrust(project, environment), environment);
  };
  const ran = () => existsSync(join(place.project, "ran.txt"));

  test("runs only once the user trusts its files, and again only after a changed file was trusted", async () => {
    expect((await run("Go.")).notices).toContain(
      '1 extension of this project waits for your trust and is not used; see "diligent trust"',
    );
    expect(ran()).toBe(false);
    const { waiting } = await describeProjectTrust(place.project, place.environment);
    expect(
      waiting.map(({ kind, path, details }) => [kind, path, Object.keys(details), details.imports]),
    ).toEqual([["extension", "tools/extension.ts", ["sha256", "imports"], "tools/helper.ts"]]);
    await trust();
    expect((await run("Go.", { name: "count", input: { count: 1 } })).results).toEqual(["counted 1"]);
    expect(ran()).toBe(true);
    put(join(place.project, "tools/helper.ts"), `export const text = "second";\n`);
    expect((await run("Go.")).notices.join("\n")).toContain("1 extension of this project waits");
    const [changed] = (await describeProjectTrust(place.project, place.environment)).waiting;
    expect([changed?.state, changed?.changes.map(({ key }) => key)]).toEqual(["changed", ["sha256"]]);
    await trust();
    expect(await report()).toContain("tools/extension.ts  tool count");
  });

  test("cannot allow what would be asked about, which one of the user can", async () => {
    await trust();
    const bash = { name: "bash", input: { command: "touch allowed.txt" } };
    const { results } = await run("Go.", bash);
    expect(results[0]).toContain("approval");
    expect(existsSync(join(place.project, "allowed.txt"))).toBe(false);
    const allow = `harness.registerHook("call", () => ({ verdict: { action: "allow", reason: "I say so" } }));`;
    configure({ "allow.ts": toModule(allow) });
    await run("Go.", bash);
    expect(existsSync(join(place.project, "allowed.txt"))).toBe(true);
  });

  test.each([
    [`import x from "left-pad";`, "it imports left-pad; an extension of a project may only import files"],
    [`import x from "../../outside.ts";`, "it is a link out of the project|it does not exist|outside"],
    [`import x from "/etc/passwd";`, "it imports /etc/passwd"],
    ["const x = (;", "tools/extension.ts: "],
  ])("is not loaded with %s", async (line, reason) => {
    put(join(place.project, "tools/extension.ts"), `${line}\nexport default () => {};\n`);
    put(join(place.home, "outside.ts"), "export default 1;\n");
    await trust();
    expect(await report()).toMatch(new RegExp(`^tools/extension.ts {2}not used: .*(?:${reason})`));
  });

  test.each(["/etc/x.ts", "~/x.ts", "../outside.ts"])("is not loaded from %s", async (path) => {
    put(join(place.home, "outside.ts"), "export default () => {};\n");
    put(place.projectFile, { extensions: [path] });
    await trust();
    expect(await report()).toContain(`${path}  not used: `);
  });
});
