import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { said, savedLines, savedMessages } from "../../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, "one", "two", "three");
  writeScript({ ...place, write: (_, content) => place.write("other.json", content) }, "a", "b", "c");
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

async function start(options?: TypedOptions): Promise<TypedCommands> {
  program = await new TypedCommands(place, options).open();
  return program;
}

describe("/model", () => {
  test("lets another model continue the conversation, in the same file", async () => {
    const typed = await start();
    await typed.say("first");
    typed.take();
    await typed.run("/model scripted/other.json");
    expect(typed.take()).toEqual(["Switched to scripted/other.json."]);
    expect(typed.view.status.model).toBe("scripted/other.json");
    await typed.say("second");
    expect(said(savedMessages(place))).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "assistant: b",
    ]);
    expect(savedLines(place).map(({ type }) => type)).toContain("model_change");
  });

  test("reports an unknown model or a missing key on one line, and changes nothing", async () => {
    const typed = await start();
    await typed.run("/model claude-sonet-5");
    await typed.run("/model claude-sonnet-5");
    await typed.run("/model nonsense");
    expect(typed.take()).toEqual([
      expect.stringMatching(/^error: No API key: set ANTHROPIC_API_KEY/),
      expect.stringMatching(/^error: No API key: set ANTHROPIC_API_KEY/),
      expect.stringMatching(/^error: Unknown model "nonsense"/),
    ]);
    await typed.say("first");
    expect(typed.take("answer")).toEqual(["one"]);
  });

  test("refuses a model without a price if costs are limited", async () => {
    const key = { ANTHROPIC_API_KEY: "x" };
    const typed = await start({ options: { model: "claude-sonnet-5", maxCost: 1 }, environment: key });
    await typed.run("/model scripted/other.json");
    expect(typed.take()).toEqual([expect.stringMatching(/^error: --max-cost needs a price/)]);
    expect((await typed.holder.session).model.id).toBe("claude-sonnet-5");
  });

  test("without an id lists all models, usable ones first, with windows and prices", async () => {
    const typed = await start({ environment: { OPENAI_API_KEY: "x" } });
    await typed.run("/model");
    const { dialog } = typed;
    expect(dialog?.title).toBe("Models");
    const details = (dialog?.items ?? []).map(({ detail = "" }) => detail);
    expect(details[0]).toMatch(/^openai · .* window · \$/);
    const firstWithout = details.findIndex((detail) => detail.endsWith("no key"));
    expect(firstWithout).toBeGreaterThan(3);
    expect(details.slice(firstWithout).every((detail) => detail.startsWith("anthropic"))).toBe(true);
    await typed.press("gpt-5-mini", "enter");
    expect(typed.view.status.model).toBe("gpt-5-mini");
    expect(typed.dialog).toBeUndefined();
  });

  test("stays in effect in a new session", async () => {
    const typed = await start();
    await typed.run("/model scripted/other.json");
    await typed.run("/new");
    expect(typed.view.status.model).toBe("scripted/other.json");
  });

  test("completes known models", async () => {
    const typed = await start();
    const command = typed.context.commands.find(({ name }) => name === "model");
    expect(await command?.complete?.("gpt-5-m", typed.context)).toEqual(["gpt-5-mini"]);
  });
});

describe("/thinking", () => {
  test("sets the level from the next request on", async () => {
    const typed = await start();
    await typed.run("/thinking high");
    expect(typed.take()).toEqual(["Thinking level set to high, from the next request on."]);
    expect(typed.view.status.effort).toBe("high");
    await typed.run("/thinking hgh");
    expect(typed.take()).toEqual([
      "error: Unknown thinking level hgh; choose one of off, low, medium, high, xhigh, max. Did you mean high?",
    ]);
  });

  test("without a level lists all of them, with the current one marked", async () => {
    const typed = await start();
    await typed.run("/thinking medium");
    await typed.press("ctrl+t");
    expect(typed.items).toEqual([" off", " low", ">medium (now)", " high", " xhigh", " max"]);
    await typed.press("down", "enter");
    expect(typed.view.status.effort).toBe("high");
  });
});

test("a command that has to wait says so when a key runs it", async () => {
  writeScript(place, { text: "one", delayMs: 200 });
  const typed = await start();
  const run = typed.say("first");
  await Bun.sleep(20);
  await typed.context.runCommand("model");
  expect(typed.view.hint).toBe("/model is not available until the run ends; Esc stops it");
  await run;
});
