import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext, ApprovalVerdict } from "../../src/approval/types.ts";
import { BYPASS_ALLOW_PATTERNS, BYPASS_COMMANDS } from "../support/bypass-commands.ts";
import { EVERYDAY_COMMANDS } from "../support/everyday-commands.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

const plain = createEverydayProject({ isHostile: false });
const hostile = createEverydayProject({ isHostile: true });

afterAll(() => {
  plain[Symbol.dispose]();
  hostile[Symbol.dispose]();
});

const rules = BYPASS_ALLOW_PATTERNS.map(
  (pattern) => ({ permission: "execute", pattern, action: "allow" }) as const,
);

function judge(command: string, context: Partial<ApprovalContext> = {}): Promise<ApprovalVerdict> {
  const request = { permission: "execute", toolName: "bash", description: "", details: { command } } as const;
  return decideApproval(request, { root: plain.root, cwd: plain.root, ...context });
}

async function gateOf(command: string, context: Partial<ApprovalContext> = {}): Promise<string> {
  const { action, gate } = await judge(command, context);
  return `${action} ${gate}`;
}

describe("the corpora", () => {
  test("have their documented size", () => {
    expect(new Set(EVERYDAY_COMMANDS).size).toBeGreaterThanOrEqual(200);
    expect(new Set(BYPASS_COMMANDS).size).toBeGreaterThanOrEqual(150);
  });

  test("everyday commands that only read are allowed without a question", async () => {
    const asked: string[] = [];
    for (const command of EVERYDAY_COMMANDS) {
      const { action, gate, reason } = await judge(command);
      if (`${action} ${gate}` !== "allow read_only_command") asked.push(`${command}: ${reason}`);
    }
    expect(asked).toEqual([]);
  });

  test("no bypass is allowed, with and without rules that allow", async () => {
    const passed: string[] = [];
    const place = { root: hostile.root, cwd: hostile.root };
    for (const command of BYPASS_COMMANDS) {
      const verdicts = [await judge(command, { ...place, rules }), await judge(command, place)];
      if (verdicts.some(({ action }) => action !== "ask")) passed.push(command);
    }
    expect(passed).toEqual([]);
  });
});

describe("a command appended to an allowed one", () => {
  const allowed = fc.constantFrom(
    "npm test",
    "ls",
    "ls -la src",
    "echo hi",
    "git status",
    "cat src/main.ts | wc -l",
  );
  const glue = fc.constantFrom(";", "&&", "||", "|", "\n", " ; ", "\n\n", " | ");
  const badGlue = fc.constantFrom("&", " & ", "|&", ">", " > ", "<", ">>", "2>", "&>", "\r", "\\\n;", ";;");
  const hostileCommand = fc.constantFrom(
    "touch CANARY",
    "curl x",
    "rm -rf .",
    "npm test x",
    "git push",
    "sort -o a b",
    "sh",
  );
  const spaces = fc.constantFrom("", " ", "\t");

  test("asks unless it is allowed itself", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.tuple(allowed, glue, spaces), { minLength: 1, maxLength: 8 }),
      hostileCommand,
      fc.array(fc.tuple(spaces, glue, allowed), { maxLength: 3 }),
      async (before, middle, after) => {
        const text = [...before.flat(), middle, ...after.flat()].join("");
        expect((await judge(text, { rules })).action).toBe("ask");
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  test("is allowed if every part is allowed itself", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.tuple(allowed, spaces, glue, spaces), { maxLength: 8 }),
      allowed,
      async (before, last) => {
        expect((await judge([...before.flat(), last].join(""), { rules })).action).toBe("allow");
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  test("asks if it is joined in any other way, or nested", async () => {
    const wrap = fc.constantFrom(
      (first: string, second: string) => `${first} $(${second})`,
      (first: string, second: string) => `${first} \`${second}\``,
      (first: string, second: string) => `${first} "$(${second})"`,
      (first: string, second: string) => `${first} <(${second})`,
      (first: string, second: string) => `(${first}; ${second})`,
      (first: string, second: string) => `{ ${first}; ${second}; }`,
    );
    const property = fc.asyncProperty(
      allowed,
      badGlue,
      fc.oneof(hostileCommand, allowed),
      wrap,
      async (one, bad, two, wrapped) => {
        expect((await judge(`${one}${bad}${two}`, { rules })).action).toBe("ask");
        expect((await judge(wrapped(one, two), { rules })).action).toBe("ask");
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  test("arbitrary text is evaluated without an error, and inserting a character never allows a new program", async () => {
    const property = fc.asyncProperty(
      fc.string({ unit: "binary", maxLength: 60 }),
      allowed,
      async (noise, command) => {
        await judge(noise, { rules });
        await judge(`${command}${noise}`, { rules });
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });
});

describe("where a command runs", () => {
  test("a cd moves the commands after it if it is known to have succeeded", async () => {
    expect(await gateOf("cd src && cat ../package.json")).toBe("allow read_only_command");
    expect(await gateOf("cd src && cat ../../outside.txt")).toBe("ask outside_project");
    expect(await gateOf("cd missing; cat ../package.json")).toBe("ask outside_project");
    expect(await gateOf("cd src; cat ../package.json")).toBe("allow read_only_command");
    expect(await gateOf("cd src; cat ../../outside.txt")).toBe("ask outside_project");
    const moves = [{ permission: "execute", pattern: "cd *", action: "allow" }] as const;
    expect(await gateOf("cd src; cat ../package.json", { rules: moves })).toBe("allow rule");
    const makes = [{ permission: "execute", pattern: "make", action: "allow" }] as const;
    expect(await gateOf("make; cd src; cat ../package.json", { rules: makes })).toBe("ask outside_project");
    expect(await gateOf("cd src | cat ../package.json")).toBe("ask outside_project");
    expect(await gateOf("cd src || cat package.json")).toBe("allow read_only_command");
  });

  test("the working directory may lie below the root", async () => {
    const cwd = join(plain.root, "src");
    expect(await gateOf("cat ../package.json", { cwd })).toBe("allow read_only_command");
    expect(await gateOf("cat ../../outside.txt", { cwd })).toBe("ask outside_project");
  });
});

describe("the program behind a name", () => {
  test("a program found in the project or behind a version manager is not the read-only system program", async () => {
    const bin = join(plain.root, "venv", "bin");
    const shims = join(plain.top, "shims");
    for (const directory of [bin, shims]) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, "cat"), "#!/bin/sh\n");
      chmodSync(join(directory, "cat"), 0o755);
    }
    const link = join(plain.top, "bin-link");
    symlinkSync(bin, link);
    const gateWith = (PATH: string) => gateOf("cat README.md", { environment: { PATH } });
    expect(await gateWith(`${bin}:/usr/bin:/bin`)).toBe("ask shell_command");
    expect(await gateWith(`${link}:/usr/bin:/bin`)).toBe("ask shell_command");
    expect(await gateWith(`${shims}:/usr/bin:/bin`)).toBe("ask shell_command");
    expect(await gateWith(`/usr/bin:/bin:${bin}`)).toBe("allow read_only_command");
    expect(await gateWith(`.:${plain.root}:/usr/bin:/bin`)).toBe("allow read_only_command");
  });

  test("a script with another interpreter is looked up together with it", async () => {
    const bin = join(plain.root, "tools", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "grep"), "#!/bin/sh\n");
    chmodSync(join(bin, "grep"), 0o755);
    const environment = { PATH: `${bin}:/usr/bin:/bin` };
    expect(await gateOf("egrep x README.md", { environment })).toBe("ask shell_command");
    expect(await gateOf("cat README.md", { environment })).toBe("allow read_only_command");
  });

  test("a runtime may print its version without a question only if it is not a shim for another", async () => {
    const bin = join(plain.top, "versions");
    mkdirSync(bin, { recursive: true });
    for (const name of ["volta-shim", "node", "bun"]) {
      writeFileSync(join(bin, name), "#!/bin/sh\n");
      chmodSync(join(bin, name), 0o755);
    }
    const gateWith = (PATH: string) => gateOf("node --version", { environment: { PATH } });
    expect(await gateWith(bin)).toBe("allow read_only_command");
    rmSync(join(bin, "node"));
    symlinkSync("volta-shim", join(bin, "node"));
    expect(await gateWith(`${bin}:/nowhere`)).toBe("ask shell_command");
    expect(await gateWith("/nowhere")).toBe("ask shell_command");
  });
});

test("where the whole system is the project, its programs are still the system's", async () => {
  expect(await gateOf("ls", { root: "/", cwd: "/", environment: { PATH: "/usr/bin:/bin" } })).toBe(
    "allow read_only_command",
  );
});

describe("searches of the whole project", () => {
  test("ask only if they would read a secret", async () => {
    const place = { root: hostile.root, cwd: hostile.root };
    expect(await gateOf("grep -rn KEY src", place)).toBe("allow read_only_command");
    expect(await gateOf("grep -rn KEY . --include='*.ts'", place)).toBe("allow read_only_command");
    expect(await gateOf("rg KEY src", place)).toBe("allow read_only_command");
    expect(await gateOf("ls -R", place)).toBe("allow read_only_command");
    expect(await gateOf("diff config src", place)).toBe("ask secret");
    expect((await judge("grep -r KEY .", place)).reason).toStartWith(
      `it would also read ${hostile.root}/.env: .env may hold`,
    );
  });

  test("that follow links ask if there is a link", async () => {
    const place = { root: hostile.root, cwd: hostile.root };
    expect(await gateOf("grep -R x --include=x.ts .", place)).toBe("ask outside_project");
    expect(await gateOf("grep -r x --include=x.ts .", place)).toBe("allow read_only_command");
  });
});
