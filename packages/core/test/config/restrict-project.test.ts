import { describe, expect, test } from "bun:test";
import { loadDiligentConfig } from "../../src/config/loader.ts";
import { describeTrust, trustProject } from "../../src/config/trust.ts";
import { findKnownModel } from "../../src/provider/models.ts";
import { type ConfigPlace, makeConfigPlace, put } from "../support/config-place.ts";
import { HOSTILE } from "../support/hostile-config.ts";

const isKnownModel = (id: string) => findKnownModel(id) !== undefined;

const load = ({ project, environment }: ConfigPlace) =>
  loadDiligentConfig(project, environment, { isKnownModel });

describe("an untrusted project's file", () => {
  test("redirects nothing, expands no variable and allows nothing, and one warning names each ignored setting", async () => {
    const place = makeConfigPlace({ SECRET: "nonce" });
    put(place.projectFile, HOSTILE);
    const { config, ignored, warnings, trust: state, sources } = await load(place);
    expect(config).toMatchObject({
      model: "claude-sonnet-5-5",
      instructions: ["harmless", "also harmless"],
      permissions: [{ permission: "read", pattern: "secret/**", action: "deny" }],
      sandbox: "auto",
      maxTurns: 7,
    });
    for (const key of [
      "provider",
      "models",
      "systemPrompt",
      "approval",
      "sandboxNetwork",
      "webSearch",
      "sandboxWritable",
      "inheritEnvironment",
      "updateUrl",
    ]) {
      expect(config).not.toHaveProperty(key);
    }
    expect(config.compaction?.model).toBeUndefined();
    expect(JSON.stringify({ config, warnings, ignored })).not.toMatch(/nonce|evil\.example|sk-planted/);
    const untrusted = [
      "systemPrompt",
      "instructions[1]",
      "permissions[0]",
      "provider.anthropic.baseUrl",
      "provider.compatible.evil.baseUrl",
      "provider.compatible.evil.models",
      "models",
      "model",
      "approval",
      "sandbox",
      "sandboxNetwork",
      "webSearch",
      "compaction.model",
      "permissions[2]",
    ];
    const refused = ["sandboxWritable", "inheritEnvironment", "updateUrl", "provider.anthropic.apiKey"];
    expect(ignored.toSorted()).toEqual([...untrusted, ...refused].sort());
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.code).toBe("ignored_keys");
    for (const key of ignored) expect(warnings[0]?.message).toContain(key);
    expect({ state, sources }).toEqual({ state: "untrusted", sources: [place.projectFile] });
  });

  test.each([
    ["claude-opus-5", true],
    ["anthropic/claude-next", true],
    ["openai/gpt-4o", true],
    ["o3", true],
    ["sonnet", true],
    ["gpt-local/llama", false],
    ["scripted/plant.json", false],
    ["anthropic/../evil", false],
    ["unknown-model", false],
    ["mine", false],
    ["claude-mine", false],
  ])("the model %p may be chosen: %p", async (model, isAllowed) => {
    const place = makeConfigPlace();
    put(place.userFile, { models: [{ id: "claude-mine", provider: "local", aliases: ["mine"] }] });
    put(place.projectFile, { model });
    const { config, ignored } = await load(place);
    expect(config.model === model).toBe(isAllowed);
    expect(ignored).toEqual(isAllowed ? [] : ["model"]);
  });

  test.each([
    ["lists it with", [{ id: "q", aliases: ["sonnet"] }], []],
    ["gives it", [], [{ id: "local/q", aliases: ["sonnet"] }]],
    ["adds to one", [{ id: "q", aliases: ["mine"] }], [{ id: "mine", aliases: ["sonnet"] }]],
  ])("selects no compatible server by a name that the user %s", async (_, listed, models) => {
    const place = makeConfigPlace();
    const local = { baseUrl: "http://localhost/v1", models: listed };
    put(place.userFile, { models, provider: { compatible: { local } } });
    put(place.projectFile, { model: "sonnet", compaction: { model: "sonnet" } });
    const { config, ignored } = await load(place);
    expect([config.model, config.compaction?.model, ignored]).toEqual([
      "claude-sonnet-5-5",
      undefined,
      ["model", "compaction.model"],
    ]);
  });

  test("may choose a public model that a compatible server has as well", async () => {
    const place = makeConfigPlace();
    const local = { baseUrl: "http://localhost/v1", models: [{ id: "gpt-4o" }] };
    put(place.userFile, { provider: { compatible: { local } } });
    put(place.projectFile, { model: "gpt-4o" });
    expect((await load(place)).config.model).toBe("gpt-4o");
  });

  test.each([
    [undefined, "accept-edits", undefined],
    ["ask", "accept-edits", "ask"],
    ["accept-edits", "auto", "accept-edits"],
    ["accept-edits", "accept-edits", "accept-edits"],
    ["auto", "accept-edits", "accept-edits"],
  ] as const)(
    "with the user's approval mode %p, the project's %p results in %p",
    async (user, project, expected) => {
      const place = makeConfigPlace();
      put(place.userFile, user === undefined ? {} : { approval: user });
      put(place.projectFile, { approval: project });
      expect((await load(place)).config.approval).toBe(expected);
    },
  );

  test("may be stricter than the user, never less strict", async () => {
    const place = makeConfigPlace();
    const userRule = { permission: "execute", pattern: "rm *", action: "deny" };
    const projectRule = { permission: "execute", pattern: "*", action: "ask" };
    put(place.userFile, { approval: "deny", sandbox: "required", permissions: [userRule] });
    put(place.projectFile, { approval: "ask", sandbox: "auto", permissions: [projectRule] });
    const lax = await load(place);
    expect(lax.ignored).toEqual(["approval", "sandbox"]);
    expect(lax.config).toMatchObject({
      approval: "deny",
      sandbox: "required",
      permissions: [projectRule, userRule],
    });
    expect(lax.origins.permissions).toBe(`${place.userFile}, ${place.projectFile}`);
    put(place.userFile, { approval: "auto", sandbox: "off" });
    put(place.projectFile, { approval: "deny", sandbox: "required" });
    const strict = await load(place);
    expect(strict.ignored).toEqual([]);
    expect(strict.config).toMatchObject({ approval: "deny", sandbox: "required" });
  });

  test.each(["https://evil.example/latest", "{env:SECRET}"])(
    "cannot enable update checks, whether it is trusted or not: %p",
    async (updateUrl) => {
      const place = makeConfigPlace({ SECRET: "https://evil.example/nonce" });
      put(place.userFile, { updateUrl: "https://own.example/latest" });
      put(place.projectFile, { updateUrl });
      const expected = { config: { updateUrl: "https://own.example/latest" }, ignored: ["updateUrl"] };
      const message = `${place.projectFile}: ignored because only your own configuration can set it: updateUrl`;
      expect(await load(place)).toMatchObject({
        ...expected,
        warnings: [{ code: "ignored_keys", message }],
        origins: { updateUrl: place.userFile },
      });
      await trustProject(
        await describeTrust(place.project, place.environment, { isKnownModel }),
        place.environment,
      );
      expect(await load(place)).toMatchObject({ ...expected, trust: "trusted" });
    },
  );

  test("without ignored settings there is no warning", async () => {
    const place = makeConfigPlace();
    put(place.projectFile, { model: "gpt-4o", instructions: ["x"], session: { autoResume: true } });
    expect(await load(place)).toMatchObject({ warnings: [], ignored: [], trust: "untrusted" });
  });

  test("its errors are reported, also in ignored settings", async () => {
    const place = makeConfigPlace();
    put(place.projectFile, '{"instructions": ["{env:A}", 5], "provider": {"openai": {"url": 1}}}');
    await expect(load(place)).rejects.toThrow(
      [
        `${place.projectFile}:1:30: key "instructions[1]": must be a text in double quotes`,
        `${place.projectFile}:1:58: key "provider.openai.url": there is no such setting`,
      ].join("\n"),
    );
  });

  test("its invisible characters do not reach the model", async () => {
    const place = makeConfigPlace();
    put(place.projectFile, { instructions: ["a\u{e0041}\u200bb"], systemPrompt: "\u202ex" });
    const { config, warnings } = await load(place);
    expect([config.instructions, config.systemPrompt]).toEqual([["ab"], "x"]);
    expect(warnings).toEqual([
      {
        code: "invisible_characters",
        message: `${place.projectFile}: 3 invisible characters were removed from its instructions`,
      },
    ]);
  });
});
