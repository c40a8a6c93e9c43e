import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Grant } from "@diligent/core";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

const USER_FILE = "../home/.config/diligent/diligent.jsonc";

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, { toolCalls: [{ name: "bash", input: { command: "touch made" } }] }, "one", "two");
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
const userFile = () => readFileSync(join(place.project, USER_FILE), "utf8");

describe("/permissions", () => {
  test("lists grants and rules, and revokes the chosen one after a question", async () => {
    place.configure({ permissions: [{ permission: "execute", pattern: "rm *", action: "deny" }] });
    const typed = await start();
    const { grants } = await typed.holder.session;
    await grants.addForProject([grant("make")]);
    await grants.addForSession([{ kind: "command_line", directory: "/x", text: "a | b > c" }]);
    typed.take();
    await typed.run("/permissions");
    expect(typed.dialog?.title).toBe("Permissions (mode ask)");
    expect(typed.items).toEqual([
      ">allowed: exactly `make` in /x",
      " allowed: exactly this command line in /x: a | b > c",
      " rule 1: deny execute rm *",
      " Add a rule…",
    ]);
    await typed.press("ctrl+d");
    expect(typed.dialog?.question).toBe("Revoke this: exactly `make` in /x?");
    await typed.press("enter");
    expect(await grants.list()).toHaveLength(3);
    await typed.press("ctrl+d", "y");
    expect(typed.items).toHaveLength(3);
    expect(typed.take("notice")).toEqual(["Revoked: exactly `make` in /x. You will be asked again."]);
    expect(await grants.listByScope()).toMatchObject([{ scope: "session" }]);
  });

  test("adds a rule to the user's file, keeping comments; it applies at once and can be removed", async () => {
    const before = '{\n  // quiet\n  "effort": "low", // cheap\n}\n';
    place.configure({});
    writeFileSync(join(place.project, USER_FILE), before);
    const typed = await start();
    await typed.run("/permissions");
    expect(typed.items).toEqual([">Add a rule…"]);
    await typed.press("enter", ..."deny execute touch", "enter");
    const path = join(place.home, ".config", "diligent", "diligent.jsonc");
    expect(typed.take("notice")).toEqual([`Added to ${path}: deny execute touch. Active now.`]);
    expect(userFile()).toBe(
      '{\n  // quiet\n  "effort": "low", // cheap\n  "permissions": [\n    { "permission": "execute", "pattern": "touch", "action": "deny" }\n  ],\n}\n',
    );
    expect(typed.items).toEqual([" rule 1: deny execute touch", ">Add a rule…"]);
    await typed.press("escape");
    await typed.say("make it");
    expect(typed.take("tool").join()).toContain("[rule]");
    expect(existsSync(join(place.project, "made"))).toBe(false);
    await typed.run("/permissions");
    await typed.press("ctrl+d");
    expect(typed.dialog?.question).toBe("Remove this rule of yours: deny execute touch?");
    await typed.press("y");
    expect(typed.items).toEqual([">Add a rule…"]);
    expect(userFile()).toContain('"effort": "low", // cheap\n  "permissions": [\n  ],\n}\n');
    expect((await typed.holder.session).approval.rules).toEqual([]);
  });

  test("keeps an invalid rule for editing, and adds one given as an argument", async () => {
    const typed = await start();
    await typed.run("/permissions");
    await typed.press("enter", ..."forbid curl", "enter");
    expect([typed.dialog?.input?.text, typed.view.hint]).toEqual([
      "forbid curl",
      "Write a rule as allow|deny|ask|try read|write|execute|fetch|mcp PATTERN, for example: deny execute curl",
    ]);
    await typed.press("escape", "escape");
    await typed.run("/permissions ask execute git push *");
    expect((await typed.holder.session).approval.rules).toEqual([
      { permission: "execute", pattern: "git push *", action: "ask" },
    ]);
    typed.take();
    await typed.run("/permissions ask everything");
    expect(typed.take("notice")[0]).toStartWith("error: Write a rule as ");
  });

  test("changes nothing in a broken file, and shows where it is broken", async () => {
    const typed = await start();
    place.configure({});
    writeFileSync(join(place.project, USER_FILE), '{\n  "effort": low\n}\n');
    typed.take();
    await typed.run("/permissions deny execute curl");
    expect(typed.take("notice")[0]).toMatch(/^error: .*diligent\.jsonc:2:13: Invalid JSON/);
    expect(userFile()).toBe('{\n  "effort": low\n}\n');
    await typed.run("/permissions");
    expect(typed.take("notice")[0]).toMatch(/^warning: .*diligent\.jsonc:2:13/);
    expect(typed.items).toEqual([">Add a rule…"]);
  });

  test("shows the rules of a project, which it does not change", async () => {
    place.configure({ permissions: [{ permission: "execute", pattern: "rm", action: "deny" }] });
    const file = place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "curl", action: "ask" }],
    });
    const before = readFileSync(file, "utf8");
    const typed = await start();
    await typed.run("/permissions");
    expect(typed.dialog?.items.map(({ label, detail }) => `${label} (${detail})`)).toEqual([
      `rule 1: ask execute curl (${file})`,
      `rule 2: deny execute rm (${join(place.home, ".config", "diligent", "diligent.jsonc")})`,
      "Add a rule… (to your own configuration)",
    ]);
    await typed.press("ctrl+d");
    expect([typed.dialog?.question, typed.view.hint]).toEqual([
      undefined,
      `This rule is not from your own configuration; edit it in ${file}`,
    ]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("makes a rule active beside those of a trusted project", async () => {
    place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "make", action: "allow" }],
    });
    const typed = await start();
    await typed.run("/trust");
    await typed.press("down", "down", "enter");
    typed.take();
    await typed.run("/permissions deny execute curl");
    expect(typed.take("notice")[0]).toEndWith("deny execute curl. Active now.");
    await typed.run("/permissions");
    expect(typed.dialog?.items.map(({ label, detail }) => `${label} (${detail})`).slice(0, 2)).toEqual([
      `rule 1: allow execute make (${join(place.project, "diligent.jsonc")})`,
      `rule 2: deny execute curl (${join(place.home, ".config", "diligent", "diligent.jsonc")})`,
    ]);
  });
});

describe("approval modes", () => {
  test("cycle with Shift+Tab from ask to accept-edits, plan and ask; one line shows the meaning of each", async () => {
    const typed = await start();
    typed.take();
    const modes: string[] = [];
    const hints: string[] = [];
    for (let press = 0; press < 4; press += 1) {
      await typed.press("shift+tab");
      modes.push(typed.view.status.approvalMode);
      hints.push(typed.view.hint ?? "none");
    }
    expect(modes).toEqual(["accept-edits", "plan", "ask", "accept-edits"]);
    expect(hints.map((text) => text.split(":")[0])).toEqual([
      "Mode accept-edits",
      "Mode plan",
      "Mode ask",
      "Mode accept-edits",
    ]);
    expect(typed.take()).toEqual([]);
    await typed.press("a");
    expect([typed.view.hint, typed.view.status.approvalMode]).toEqual([undefined, "accept-edits"]);
  });

  test("advance two steps after two fast presses", async () => {
    const typed = await start();
    await Promise.all([typed.context.nextApprovalMode(), typed.context.nextApprovalMode()]);
    expect(typed.view.status.approvalMode).toBe("plan");
  });

  test.each(["auto", "deny"] as const)("change with Shift+Tab from %s to ask", async (approval) => {
    const typed = await start({ options: { approval } });
    await typed.press("shift+tab");
    expect(typed.view.status.approvalMode).toBe("ask");
  });

  test("change at once with /permissions MODE, to auto only after a question that Enter answers with no", async () => {
    place.configure({ sandbox: "off" });
    const typed = await start();
    for (const mode of ["plan", "deny", "accept-edits"] as const) {
      await typed.run(`/permissions ${mode}`);
      expect(typed.view.status.approvalMode).toBe(mode);
    }
    await typed.run("/permissions atuo");
    expect(typed.take("notice").at(-1)).toContain("Unknown mode atuo; modes are ask, accept-edits, plan");
    await typed.run("/permissions auto");
    expect(typed.dialog?.title).toBe("Allow everything without asking?");
    expect(typed.items).toEqual([">Stay in accept-edits", " Switch to auto"]);
    await typed.press("enter");
    expect(typed.view.status.approvalMode).toBe("accept-edits");
    await typed.run("/permissions auto");
    await typed.press("escape");
    expect((await typed.holder.session).approval.mode).toBe("accept-edits");
    await typed.run("/permissions auto");
    await typed.press("down", "enter");
    expect(typed.view.status.approvalMode).toBe("auto");
    await typed.say("make it");
    expect(existsSync(join(place.project, "made"))).toBe(true);
  });

  test("let a command that only edits run without a question in accept-edits", async () => {
    place.configure({ sandbox: "off" });
    const typed = await start({ options: { approval: "accept-edits" } });
    await typed.say("make it");
    expect(existsSync(join(place.project, "made"))).toBe(true);
  });

  test("imports the rules of another agent only after they were shown and one of its files was chosen", async () => {
    place.write("../home/.claude/settings.json", { permissions: { deny: ["Read(.env)", "Bash(rm:*)"] } });
    const typed = await start();
    typed.take();
    await typed.run("/permissions import");
    expect(typed.dialog?.title).toBe("Import these rules?");
    expect(typed.items).toEqual([">Import nothing", " Import ~/.claude/settings.json"]);
    await typed.press("enter");
    expect(existsSync(join(place.project, USER_FILE))).toBe(false);
    await typed.run("/permissions import");
    await typed.press("down", "enter");
    expect(JSON.parse(userFile()).permissions).toEqual([
      { permission: "read", pattern: "**/.env", action: "deny" },
      { permission: "read", pattern: "**/.env/**", action: "deny" },
      { permission: "execute", pattern: "rm", action: "deny" },
    ]);
    await typed.run("/permissions import all");
    expect(typed.take("notice").join("\n")).toContain("All of them are in ");
  });
});
