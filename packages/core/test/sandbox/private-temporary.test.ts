import { afterEach, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { preparePrivateTemporary } from "../../src/sandbox/box/seccomp.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeTempDir, temporaryBase } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

describe.skipIf(problem !== undefined)("a directory that the user's configuration makes writable", () => {
  const HOLDING: Readonly<Record<string, string>> = {
    session: "the session's temporary files",
    "home/": "your home directory",
    "home/.local": "diligent's own files",
    "home/.config": "diligent's own files",
  };
  for (const [name, held] of Object.entries(HOLDING)) {
    test(`stays read-only if it contains ${held}: ${name}`, async () => {
      const writable: string[] = [];
      const place = await makeBoxedProject({
        writable,
        prepare({ top }) {
          mkdirSync(join(top, name), { recursive: true });
          writable.push(join(top, name));
        },
      });
      expect(place.told).toEqual([
        `The sandbox keeps ${realpathSync(join(place.top, name))} read-only although "sandboxWritable" names it, because it contains ${held}.`,
      ]);
      expect((await place.run(`mkdir ${join(place.top, name)}/made`)).isError).toBe(true);
      const takeOver = "D=$(dirname $TMPDIR); mv $D $(dirname $D)/old; mkdir $D; ln -s ../home $D/tmp";
      await place.run(takeOver);
      await place.run("echo CANARY > $TMPDIR/canary; echo CANARY > /tmp/canary");
      expect(place.text("home/canary")).toBeUndefined();
    });
  }

  test("cannot be used to move a project inside it", async () => {
    const writable: string[] = [];
    const place = await makeBoxedProject({
      name: "work/deep/project",
      writable,
      prepare: ({ top }) => writable.push(join(top, "work")),
    });
    const { output } = await place.run("cd ../..; echo 1 > beside; mv deep/project gone; mv deep gone");
    expect(output.match(/busy/g)).toHaveLength(2);
    expect(place.text("work/beside")).toBe("1\n");
    expect(place.told).toEqual([]);
  });
});

describe.skipIf(problem !== undefined)("the path to a project among temporary files", () => {
  test("cannot be replaced by a command", async () => {
    const place = await makeBoxedProject({ sharedTemporary: [realpathSync(temporaryBase())] });
    const { output } = await place.run(
      `echo 1 > made; echo 2 > $TMPDIR/two; mv ${place.top} ${place.top}-x || mkdir ${place.top}/beside; cat $TMPDIR/two`,
    );
    expect(output).toMatch(/busy[\s\S]*Read-only file system[\s\S]*\n2/);
    expect(place.text("project/made")).toBe("1\n");
  });
});

describe.skipIf(problem !== undefined)("a program among temporary files", () => {
  /** The PATH of a machine on which `hello` is a link in `links` to `program`, both below the temporary directory. */
  async function run(links: string, program: string) {
    const place = makeTempDir();
    for (const path of [links, dirname(program)]) mkdirSync(join(place, path), { recursive: true });
    writeFileSync(join(place, program), "#!/bin/sh\necho hello\n", { mode: 0o755 });
    symlinkSync(join(place, program), join(place, links, "hello"));
    writeFileSync(join(place, "private"), "CANARY\n");
    const PATH = `${join(place, links)}:${process.env.PATH}`;
    const project = await makeBoxedProject({
      sharedTemporary: [realpathSync(temporaryBase())],
      environment: { PATH },
    });
    return project.run(`hello; cat ${place}/private; hello > ${join(place, links)}/made`);
  }

  test.each([
    ["npm installed", "node_modules/.bin", "node_modules/hello/bin/hello.exe"],
    ["a directory of links leads to", "bin", "opt/hello-1.0/hello"],
  ])("that %s is found in the sandbox, and nothing beside it", async (_, links, program) => {
    const { output } = await run(links, program);
    expect(output).toMatch(/^hello\ncat: .*No such file or directory\n.*Read-only file system/);
    expect(output).not.toContain("CANARY");
  });
});

describe("the directory of a session's temporary files", () => {
  test("is refused if something else has replaced it", () => {
    const directory = makeTempDir();
    symlinkSync("/", join(directory, "tmp"));
    expect(() => preparePrivateTemporary(directory)).toThrow("is no directory of this session");
  });

  test("can be written to again after a command has made it unwritable", async () => {
    const directory = makeTempDir();
    mkdirSync(join(directory, "tmp"), { mode: 0o000 });
    expect(preparePrivateTemporary(directory)?.files).toBe(join(directory, "tmp"));
    expect(lstatSync(join(directory, "tmp")).mode & 0o777).toBe(0o700);
  });

  test.skipIf(problem !== undefined)("works for the next command after `chmod 000`", async () => {
    const place = await makeBoxedProject();
    await place.run("chmod 000 $TMPDIR");
    expect(await place.run("echo 1 > $TMPDIR/one && cat $TMPDIR/one")).toMatchObject({ output: "1" });
  });
});
