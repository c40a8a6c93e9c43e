import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";

let place: TemporaryProject;
let typed: TypedCommands;

const ls = { toolCalls: [{ name: "ls", input: {} }] };
const THOUGHT = "The names are what matters here, and nothing else.";

beforeEach(async () => {
  place = createTemporaryProject();
  place.write("a.ts", "let a;\n");
  place.write("pager", `#!/bin/sh\ncat > "${join(place.temporary, "paged")}"\n`);
  writeScript(
    place,
    { thinking: THOUGHT, ...ls },
    { toolCalls: [{ name: "read", input: { file_path: "a.ts" } }] },
    "Done.",
  );
  const environment = { PAGER: `sh -c 'cat > ${join(place.temporary, "paged")}'` };
  typed = await new TypedCommands(place, { environment }).open();
});

afterEach(async () => {
  await typed.close();
  place.remove();
});

const paged = () => readFileSync(join(place.temporary, "paged"), "utf8");

describe("Ctrl+O", () => {
  test("lists thinking and results, the newest first, and shows the chosen one in full", async () => {
    await typed.say("look");
    await typed.press("ctrl+o");
    expect(typed.dialog?.title).toBe("Show in full");
    expect(typed.items).toEqual([
      expect.stringMatching(/^>✓ read a\.ts/),
      expect.stringMatching(/^ ✓ ls/),
      ` Thinking: ${THOUGHT}`,
    ]);
    await typed.press("down", "down", "enter");
    expect(paged()).toBe(`Thinking\n\n${THOUGHT}\n`);
    await typed.press("ctrl+o", "enter");
    expect(paged()).toContain("let a;");
  });

  test("shows a single one at once, and says if there is none", async () => {
    await typed.press("ctrl+o");
    expect(typed.take("notice").at(-1)).toBe("Nothing to expand yet.");
    typed.enter("!echo only");
    await typed.settle();
    expect(existsSync(join(place.temporary, "paged"))).toBe(false);
    await typed.press("ctrl+o");
    expect(typed.dialog).toBeUndefined();
    expect(paged()).toContain("only");
  });
});

describe("/settings", () => {
  test("shows the session's settings, and changes the chosen one", async () => {
    await typed.run("/settings");
    expect(typed.dialog?.items.map(({ label }) => label)).toEqual([
      "Model: scripted/script.json",
      "Thinking: model default",
      "Mode: ask",
      "Rules: what is allowed or denied",
      "Name: none",
      "Configuration: all values and their sources",
    ]);
    await typed.press("down", "down", "enter");
    expect(typed.dialog?.title).toBe("When should diligent ask?");
    expect(typed.items.map((item) => item.slice(1))).toEqual([
      "ask (now)",
      "accept-edits",
      "plan",
      "auto",
      "deny",
    ]);
    await typed.press("down", "down", "enter");
    expect(typed.view.status.approvalMode).toBe("plan");
    await typed.run("/settings");
    expect(typed.dialog?.items[2]?.label).toBe("Mode: plan");
    await typed.press("down", "enter");
    expect(typed.dialog?.name).toBe("thinking");
  });
});
