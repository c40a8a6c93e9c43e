import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "../../support/typed-commands.ts";

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

describe("/trust", () => {
  test("shows what would become active, asks, and applies the answer at once", async () => {
    place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "make", action: "allow" }],
    });
    const typed = await start();
    typed.take();
    await typed.run("/trust");
    const [shown = ""] = typed.take("output");
    expect(shown).toContain(place.project);
    expect(shown).toContain("permissions");
    expect(typed.items).toEqual([">Don't trust it", " Trust for now", " Trust it"]);
    await typed.press("enter");
    expect((await typed.holder.session).loaded.trust).toBe("untrusted");
    await typed.run("/trust");
    await typed.press("down", "down", "enter");
    await typed.settle();
    expect(typed.take("notice")).toEqual([`Trusted: ${place.project}`]);
    const { loaded } = await typed.holder.session;
    expect([loaded.trust, loaded.config.permissions?.length]).toEqual(["trusted", 1]);
    await typed.run("/trust");
    await typed.press("down", "enter");
    await typed.settle();
    expect((await typed.holder.session).loaded.trust).toBe("untrusted");
  });

  test("trusts until the end, also in a new session, and stores nothing", async () => {
    const file = place.write("diligent.jsonc", { sandbox: "off" });
    const typed = await start();
    await typed.run("/trust");
    await typed.press("down", "enter");
    await typed.settle();
    const look = async () => {
      const { loaded } = await typed.holder.session;
      return [loaded.trust, loaded.config.sandbox];
    };
    expect(await look()).toEqual(["trusted", "off"]);
    expect(existsSync(join(place.home, ".local", "state", "diligent", "trust.json"))).toBe(false);
    await typed.run("/new");
    expect(await look()).toEqual(["trusted", "off"]);
    // Exactly this content was shown.
    writeFileSync(file, '{"sandbox": "off", "approval": "auto"}');
    await typed.run("/reload");
    expect(await look()).toEqual(["untrusted", "auto"]);
    writeFileSync(file, '{"sandbox":"off"}');
    await typed.run("/reload");
    expect(await look()).toEqual(["trusted", "off"]);
    await typed.run("/trust");
    expect(typed.items).toEqual([">Keep as is", " Revoke trust"]);
    await typed.press("down", "enter");
    await typed.settle();
    expect(await look()).toEqual(["untrusted", "auto"]);
  });

  test("asks nothing if there is no configuration", async () => {
    const typed = await start();
    await typed.run("/trust");
    expect(typed.take()).toEqual([`${place.project} has nothing to trust.`]);
    expect(typed.dialog).toBeUndefined();
  });
});
