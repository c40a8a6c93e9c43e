import { describe, expect, test } from "bun:test";
import { loadDiligentConfig } from "../../src/config/loader.ts";
import { describeTrust, trustProject } from "../../src/config/trust.ts";
import { type ConfigPlace, makeConfigPlace, put } from "../support/config-place.ts";

const load = ({ project, environment }: ConfigPlace) =>
  loadDiligentConfig(project, environment, { findNearestModel: () => "sonnet" });

async function trust({ project, environment }: ConfigPlace): Promise<void> {
  await trustProject(await describeTrust(project, environment), environment);
}

const UNKNOWN = `{
  "maxTurn": 3,
  "maxTurns": 4,
  "futureThing": { "a": [1] },
  "compaction": { "enabled": false, "speed": 9 }
}`;

describe("unknown settings", () => {
  test.each([false, true])(
    "in the project's file are one warning and the others apply; trusted: %p",
    async (isTrusted) => {
      const place = makeConfigPlace();
      put(place.projectFile, UNKNOWN);
      if (isTrusted) await trust(place);
      const { config, warnings } = await load(place);
      expect(config).toMatchObject({ maxTurns: 4, compaction: { enabled: false } });
      expect(JSON.stringify(config)).not.toMatch(/futureThing|speed|"maxTurn"/);
      expect(warnings).toEqual([
        {
          code: "unknown_keys",
          message: `${place.projectFile}: unknown settings were skipped: "maxTurn" (2:3, did you mean "maxTurns"?), "futureThing" (4:3), "compaction.speed" (5:37)`,
        },
      ]);
    },
  );

  test("of the user's own file are an error", async () => {
    const place = makeConfigPlace();
    put(place.userFile, UNKNOWN);
    await expect(load(place)).rejects.toThrow('key "futureThing": there is no such setting');
  });

  test("do not hide other errors in the project's file", async () => {
    const place = makeConfigPlace();
    put(place.projectFile, { futureThing: 1, maxTurns: "four" });
    await expect(load(place)).rejects.toThrow('key "maxTurns": must be a number');
  });

  test("in a rule that allows turn it into one that asks: they could have narrowed it", async () => {
    const place = makeConfigPlace();
    const rule = { permission: "execute", pattern: "make *" };
    put(place.projectFile, {
      permissions: [
        { ...rule, action: "allow", onlyIn: "docs" },
        { ...rule, action: "deny", onlyIn: "docs" },
        { ...rule, action: "allow" },
      ],
    });
    await trust(place);
    expect((await load(place)).config.permissions).toMatchObject([
      { ...rule, action: "ask" },
      { ...rule, action: "deny" },
      { ...rule, action: "allow" },
    ]);
  });
});

describe("in an untrusted project's file", () => {
  test("a model of an unknown provider is reported as unknown, not as untrusted", async () => {
    const place = makeConfigPlace();
    put(place.projectFile, { model: "sonet" });
    const { ignored, warnings } = await load(place);
    expect(ignored).toEqual(["model"]);
    expect(warnings).toEqual([
      {
        code: "unknown_model",
        message: `${place.projectFile}: model: unknown model "sonet", which is ignored. Did you mean "sonnet"?`,
      },
    ]);
  });

  test.each([
    ["a compatible server's", { model: "local/llama" }],
    ["a script", { model: "scripted/a.json" }],
    ["one of its own", { model: "mine", models: [{ id: "claude-mine", aliases: ["mine"] }] }],
  ])("a model that is %s requires trust", async (_, settings) => {
    const place = makeConfigPlace();
    put(place.projectFile, settings);
    const { ignored, warnings } = await load(place);
    expect(ignored).toContain("model");
    expect(warnings.map(({ code }) => code)).toEqual(["ignored_keys"]);
    expect(warnings[0]?.message).toContain('this project is not trusted (see "diligent trust")');
  });
});
