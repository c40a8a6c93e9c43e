import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toSystemPath } from "../../src/infrastructure/fs/stat.ts";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { AS_PLAIN_USER, findPlainBoxObstacle, giveToPlainUser } from "../support/plain-user.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { describeUnless } from "../support/test-unless.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const SCRIPT = join(import.meta.dir, "..", "support", "run-boxed.ts");

describeUnless(problem ?? findPlainBoxObstacle(SCRIPT))("a directory that cannot be listed", () => {
  test("is read-only as a whole, and can be neither moved nor changed", async () => {
    const top = makeTempDir();
    const root = join(top, "project");
    for (const path of ["home", "session", "project", "project/311", "project/000", "project/around/300"])
      mkdirSync(join(top, path), { recursive: true });
    for (const name of ["311", "000", "around/300"])
      writeFileSync(join(root, name, "CLAUDE.md"), "original\n");
    const all = readdirSync(top, { recursive: true, encoding: "utf8" }).map((path) => join(top, path));
    giveToPlainUser(top, ...all);
    for (const name of ["311", "000", "around/300"])
      chmodSync(join(root, name), Number.parseInt(name.slice(-3), 8));
    const attempts = ["311", "000", "around/300"].flatMap((path) => [
      `chmod 755 ${path}`,
      `echo CANARY > ${path}/CLAUDE.md; echo CANARY > ${path}/.env; mkdir -p ${path}/.vscode`,
      `mv ${path} moved; rm -rf ${path}; rmdir ${path}`,
    ]);
    const command = [...attempts, "mv around b", ...attempts].join("\n");
    const words = [...AS_PLAIN_USER, process.execPath, SCRIPT, top, command];
    const child = Bun.spawn(words, { stdout: "ignore", stderr: "pipe" });
    expect([await child.stderr.text(), await child.exited]).toEqual(["", 0]);
    const modes = ["311", "000", "b/300"].map((path) =>
      (lstatSync(join(root, path)).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(["311", "0", "300"]);
    for (const path of ["311", "000", "b/300"]) chmodSync(join(root, path), 0o700);
    expect(["311", "000", "b/300"].map((path) => readdirSync(join(root, path)))).toEqual(
      Array(3).fill(["CLAUDE.md"]),
    );
  });
});

describe.skipIf(problem !== undefined)("below a name that is not valid text", () => {
  const NAME = "a\udcffb";

  async function makePlace() {
    const place = await makeBoxedProject({
      prepare({ root }) {
        for (const path of [
          "CLAUDE.md",
          "sub/.envrc",
          "repo/.git/config",
          "repo/.git/HEAD",
          "docs/real.txt",
        ]) {
          const file = `${root}/${NAME}/${path}`;
          mkdirSync(toSystemPath(file.slice(0, file.lastIndexOf("/"))), { recursive: true });
          writeFileSync(toSystemPath(file), "original\n");
        }
      },
    });
    const text = (path: string) => readFileSync(toSystemPath(`${place.root}/${NAME}/${path}`), "utf8");
    return { ...place, text };
  }

  test("an existing protected file keeps its content", async () => {
    const { run, text } = await makePlace();
    const paths = ["CLAUDE.md", "sub/.envrc", "repo/.git/config"];
    const attempts = paths.flatMap((path) => [
      `echo CANARY >> "$d/${path}"`,
      `rm -f "$d/${path}"; echo CANARY > "$d/${path}"`,
      `echo CANARY > new; mv -f new "$d/${path}"`,
    ]);
    const { output } = await run(`d=$(printf 'a\\377b')\n${attempts.join("\n")}`);
    expect(paths.map(text)).toEqual(Array(3).fill("original\n"));
    expect(output).toContain("Read-only file system");
  });

  test("a link with such a name is restored with its target", async () => {
    const { run, root, text } = await makePlace();
    await run("d=$(printf 'a\\377b'); ln -s \"$PWD/$d/docs/real.txt\" $d/docs/AGENTS.md", { outside: true });
    const { output } = await run(
      "d=$(printf 'a\\377b'); rm $d/docs/AGENTS.md; echo CANARY > $d/docs/real.txt",
    );
    expect(output).toContain("AGENTS.md was restored");
    expect(readFileSync(toSystemPath(`${root}/${NAME}/docs/AGENTS.md`), "utf8")).toBe("original\n");
    expect(text("docs/real.txt")).toBe("original\n");
  });

  test("its names are passed to the sandbox and not visible to commands", async () => {
    const { run } = await makePlace();
    const { output } = await run(
      'for f in /proc/self/fd/*; do readlink "$f"; done; ls -l /proc/1/fd /proc/2/fd 2>&1',
    );
    expect(output).not.toContain("arguments-");
  });
});
