import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Grant } from "@diligent/core";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "./support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, "one");
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

async function start(options?: TypedOptions): Promise<TypedCommands> {
  program = await new TypedCommands(place, options).open();
  return program;
}

const grant = (word: string): Grant => ({ kind: "command", directory: "/x", words: [word] });

describe("/permissions", () => {
  test("lists what was allowed and the rules, and takes back what is chosen, after a question", async () => {
    place.write("../home/.config/diligent/diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "rm *", action: "deny" }],
    });
    const typed = await start();
    const { grants } = await typed.holder.session;
    await grants.addForProject([grant("make")]);
    grants.addForSession([{ kind: "command_line", directory: "/x", text: "a | b > c" }]);
    typed.take();
    await typed.run("/permissions");
    expect(typed.dialog?.title).toBe("Allowed and forbidden (mode ask)");
    expect(typed.items).toEqual([
      ">allowed: exactly `make` in /x",
      " allowed: exactly this command line in /x: a | b > c",
      " rule 1: deny execute rm *",
    ]);
    await typed.press("ctrl+d");
    expect(typed.dialog?.question).toBe("Take this back: exactly `make` in /x?");
    await typed.press("enter");
    expect(await grants.list()).toHaveLength(3);
    await typed.press("ctrl+d", "y");
    expect(typed.items).toHaveLength(2);
    expect(typed.take("notice")).toEqual(["Taken back: exactly `make` in /x. It is asked about again."]);
    expect(await grants.listByScope()).toMatchObject([{ scope: "session" }]);
    await typed.press("down", "ctrl+d");
    expect(typed.view.hint).toContain("rule of the configuration");
  });

  test("says that there is nothing", async () => {
    const typed = await start();
    await typed.run("/permissions");
    expect(typed.take()).toEqual([
      "The approval mode is ask. Nothing was allowed for good, and there are no rules.",
    ]);
  });
});

describe("/trust", () => {
  test("shows what would become active, asks, and lets it count at once", async () => {
    place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "make", action: "allow" }],
    });
    const typed = await start();
    typed.take();
    await typed.run("/trust");
    const [shown = ""] = typed.take("output");
    expect(shown).toContain(place.project);
    expect(shown).toContain("permissions");
    expect(typed.items).toEqual([">Leave it as it is", " Trust it"]);
    await typed.press("enter");
    expect((await typed.holder.session).loaded.trust).toBe("untrusted");
    await typed.run("/trust");
    await typed.press("down", "enter");
    await typed.settle();
    expect(typed.take("notice")).toEqual([`Trusted: ${place.project}`]);
    const { loaded } = await typed.holder.session;
    expect([loaded.trust, loaded.config.permissions?.length]).toEqual(["trusted", 1]);
    await typed.run("/trust");
    await typed.press("down", "enter");
    await typed.settle();
    expect((await typed.holder.session).loaded.trust).toBe("untrusted");
  });

  test("has nothing to ask where there is no configuration", async () => {
    const typed = await start();
    await typed.run("/trust");
    expect(typed.take()).toEqual([`${place.project} has no configuration that could be trusted.`]);
    expect(typed.dialog).toBeUndefined();
  });
});
