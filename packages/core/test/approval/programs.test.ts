import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import fc from "fast-check";
import { type Operand, readProgramUse } from "../../src/approval/bash/program-spec.ts";
import { READ_ONLY_PROGRAMS, SPECIAL_PROGRAMS } from "../../src/approval/bash/programs.ts";
import { readPrintf } from "../../src/approval/bash/text-programs.ts";

const place = realpathSync(mkdtempSync(join(tmpdir(), "approval-programs-")));
const CANARY = "canary-5f1e";
writeFileSync(join(place, "canary"), `${CANARY}\n${CANARY}\n`);
writeFileSync(join(place, "other"), "other\n");

afterAll(() => rmSync(place, { recursive: true, force: true }));

function run(program: string, words: readonly string[], timeout = 2_000): string {
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" };
  const options = { cwd: place, env, stdin: "ignore", timeout } as const;
  const { stdout, stderr } = Bun.spawnSync([program, ...words], {
    ...options,
    stderr: "pipe",
    stdout: "pipe",
  });
  return `${stdout}${stderr}`;
}

const isInstalled = (program: string) => Bun.which(program, { PATH: "/usr/bin:/bin" }) !== null;
const split = (list = "") => list.split(" ").filter((name) => name !== "");
const toOption = (name: string) => (name.length === 1 ? `-${name}` : name);
const toWords = (...texts: string[]): Operand[] => texts.map((text) => ({ text, names: undefined }));

function pathsOf(program: string, ...texts: string[]): string[] | string {
  const special = SPECIAL_PROGRAMS[program];
  const spec = READ_ONLY_PROGRAMS[program];
  const reading =
    special?.read(toWords(...texts), false) ?? (spec && readProgramUse(toWords(...texts), spec));
  if (reading === undefined) return "unknown";
  return "unsupported" in reading ? reading.unsupported : reading.use.paths;
}

describe("the table, compared with the programs of this system", () => {
  const programs = Object.entries(READ_ONLY_PROGRAMS).filter(
    ([name, { isBuiltin }]) => !isBuiltin && isInstalled(name),
  );

  test("an option's value in the table is never a file that is read", () => {
    const read: string[] = [];
    for (const [name, spec] of programs) {
      if (spec.reads === "names") continue;
      for (const option of split(spec.values)) {
        if (run(name, [toOption(option), "canary", "other"]).includes(CANARY)) read.push(`${name} ${option}`);
      }
    }
    expect(read).toEqual([]);
  });

  test("no option creates a file", () => {
    const before = readdirSync(place).sort();
    const made: string[] = [];
    for (const [name, spec] of programs) {
      // It is kept to one file because it writes to a second.
      const operands = spec.maxOperands === 1 ? ["canary"] : ["canary", "new-file"];
      for (const option of [...split(spec.flags), ...split(spec.optionalValues)]) {
        run(name, [toOption(option), ...operands]);
        if (readdirSync(place).sort().join() !== before.join()) made.push(`${name} ${option}`);
      }
    }
    expect(made).toEqual([]);
  }, 60_000);
});

describe("a word that is an option's value only on some systems", () => {
  test("counts as a file too", () => {
    expect(pathsOf("head", "-n", "canary", "other")).toEqual(["canary", "other"]);
    expect(pathsOf("od", "-cw", "canary")).toEqual(["canary"]);
    expect(pathsOf("od", "-w16", "canary")).toEqual(["canary"]);
    expect(pathsOf("grep", "-A", "canary", "x", "other")).toEqual(["canary", "other"]);
    expect(pathsOf("grep", "--context", "3", "canary", "other")).toEqual(["canary", "other"]);
    expect(pathsOf("cut", "-d", "/", "-f", "1", "other")).toEqual(["other"]);
  });

  test("is not accepted if it could be an option", () => {
    expect(pathsOf("head", "-n", "-c", "other")).toBe("what follows the option -n");
    expect(pathsOf("head", "-n", "-5", "other")).toEqual(["-5", "other"]);
    expect(pathsOf("sort", "-k", "--output=x", "other")).toBe("what follows the option -k");
  });
});

describe("tree", () => {
  test("takes each value as a separate word, so that no letter after an option is skipped", () => {
    expect(pathsOf("tree", "-aL", "2", "src")).toEqual(["src"]);
    expect(pathsOf("tree", "-Lo", "2", "canary")).toBe("what follows the option -L");
    expect(pathsOf("tree", "-L2", "src")).toBe("what follows the option -L");
  });
});

describe("ripgrep", () => {
  test("lists files only if the listing option is given", () => {
    const readsContent = (...texts: string[]) => {
      const reading = SPECIAL_PROGRAMS.rg?.read(toWords(...texts), false);
      return reading && "use" in reading ? reading.use.readsContent : reading?.unsupported;
    };
    expect(readsContent("--files", "x")).toBe(false);
    expect(readsContent("-e", "--files", "x")).toBe(true);
    expect(readsContent("x", "--", "--files")).toBe(true);
    expect(readsContent("-g", "--files", "x")).toBe("what follows the option -g");
  });

  const options = run(rgPath, ["--help"]).matchAll(/^ {4}(?:-\S(?: \S+)?, )?(--[\w-]+)(=\S+)?/gm);
  const cases = [...options].map(([, long = "", value]) => ({ long, takesValue: value !== undefined }));
  test("takes values exactly for the options that its help lists", () => {
    const wrong = cases.filter(({ long, takesValue }) => {
      const paths = pathsOf("rg", long, "value", "pattern", "place");
      if (typeof paths === "string") return false;
      const isTaken = !paths.includes("pattern");
      return isTaken !== takesValue && !["--files", "--type-list", "--regexp", "--file"].includes(long);
    });
    expect([cases.length > 90, wrong]).toEqual([true, []]);
  });
});

describe("printf", () => {
  test("needs no approval only with a format that sets no variable", () => {
    const plain = [
      "n",
      "s",
      "d",
      "5",
      ".",
      "*",
      "-",
      "#",
      "0",
      "l",
      "h",
      "a",
      "$",
      "1",
      " ",
      "'",
      "(",
      ")",
      "T",
    ];
    const atoms = [...plain, "%", "%s", "%n", "%%", "\\", "x25", "b", "q", "\\n", "\\045"];
    let compared = 0;
    const property = fc.property(fc.array(fc.constantFrom(...atoms), { maxLength: 7 }), (pieces) => {
      const format = pieces.join("");
      if ("unsupported" in readPrintf(toWords(format, "PATH", "PATH"))) return;
      compared += 1;
      const script = 'printf "$1" PATH PATH >/dev/null 2>&1; printf %s "$PATH"';
      expect([format, run("bash", ["-c", script, "bash", format])]).toEqual([format, "/usr/bin:/bin"]);
    });
    fc.assert(property, { numRuns: 600 });
    expect(compared).toBeGreaterThan(50);
  });
});
