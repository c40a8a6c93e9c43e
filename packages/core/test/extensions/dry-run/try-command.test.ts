import { afterEach, describe, expect, test } from "bun:test";
import { linkSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ViewKind } from "../../../src/extensions/dry-run/view.ts";
import { endAllProcesses } from "../../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../../support/boxed-project.ts";
import { tryIn } from "../../support/dry-run-stage.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

async function makeProject() {
  const project = await makeBoxedProject();
  project.put("project/a.txt", "one\ntwo\n");
  project.put("project/gone.txt", "gone\n");
  project.put("project/dir/b.txt", "b\n");
  return project;
}

/** Everything below a directory with its kind, mode and content. */
function snapshot(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const stats = lstatSync(join(directory, name));
      const content = stats.isFile() ? readFileSync(join(directory, name), "latin1") : "";
      return `${name} ${stats.mode.toString(8)} ${stats.nlink} ${stats.mtimeMs} ${content}`;
    });
}

const KINDS: readonly ViewKind[] = ["overlay", "copy"];

describe.skipIf(problem !== undefined)("a dry run", () => {
  for (const kind of KINDS) {
    test(`shows what a command would change and changes nothing, with a view that is: ${kind}`, async () => {
      const project = await makeProject();
      const before = snapshot(project.root);
      const command =
        "echo three >> a.txt; rm gone.txt; mkdir new; echo n > new/n.txt; ln -s a.txt soft; chmod 755 dir/b.txt; pwd; cat a.txt";
      const tried = await tryIn(project, command, { kinds: [kind] });
      expect(tried.kind).toBe(kind);
      expect(tried.result.output).toBe(`${project.root}\none\ntwo\nthree`);
      expect(tried.described.lines).toEqual([
        "M a.txt",
        "M dir/b.txt (mode 0644 -> 0755)",
        "A new/",
        "A new/n.txt",
        'A soft -> "a.txt"',
        "D gone.txt",
      ]);
      expect(tried.described.summary).toBe("3 created, 1 changed, 1 deleted, 1 with another mode");
      expect(tried.described.diff).toContain("--- a.txt\n+++ a.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three\n");
      expect(snapshot(project.root)).toEqual(before);
      await tried.drop();
      expect(readdirSync(project.session).filter((name) => name.startsWith("view-"))).toEqual([]);
    });

    test(`is applied as it was shown, with a view that is: ${kind}`, async () => {
      const project = await makeProject();
      const command =
        "echo three >> a.txt; ln a.txt hard; rm -r dir; mkdir -p new/deep; echo n > new/deep/n; chmod 700 new; rm gone.txt; mkdir gone.txt; truncate -s 10G sparse";
      const tried = await tryIn(project, command, { kinds: [kind] });
      expect(await tried.apply()).toEqual([]);
      await tried.drop();
      expect(project.text("project/a.txt")).toBe("one\ntwo\nthree\n");
      expect(statSync(project.at("project/hard")).ino).toBe(statSync(project.at("project/a.txt")).ino);
      expect(project.text("project/new/deep/n")).toBe("n\n");
      expect(statSync(project.at("project/new")).mode & 0o777).toBe(0o700);
      expect(statSync(project.at("project/gone.txt")).isDirectory()).toBe(true);
      const sparse = statSync(project.at("project/sparse"));
      expect([sparse.size, sparse.blocks < 1000]).toEqual([10 * 1024 ** 3, true]);
      expect(readdirSync(project.root).sort()).toEqual(["a.txt", "gone.txt", "hard", "new", "sparse"]);
    });

    test(`is not applied where the project has changed meanwhile, with a view that is: ${kind}`, async () => {
      const project = await makeProject();
      const tried = await tryIn(project, "echo three >> a.txt; rm -r dir; echo x > made", { kinds: [kind] });
      project.put("project/dir/added.txt", "by the user\n");
      const before = snapshot(project.root);
      await expect(tried.apply()).rejects.toThrow(
        `Nothing was applied, because the project has changed meanwhile: ${project.at("project/dir")}.`,
      );
      await tried.drop();
      expect(snapshot(project.root)).toEqual(before);
    });
  }

  test("is not applied where a file changed while the command ran", async () => {
    const project = await makeProject();
    project.put("project/go", "");
    const begun = Promise.withResolvers<void>();
    const command = "echo begun; until [ -s go ]; do sleep 0.05; done; echo three >> a.txt";
    const running = tryIn(project, command, { kinds: ["overlay"], onUpdate: () => begun.resolve() });
    await begun.promise;
    project.put("project/a.txt", "by the user\n");
    project.put("project/go", "now\n");
    const tried = await running;
    expect(tried.changes.changedMeanwhile).toEqual([project.at("project/a.txt")]);
    await expect(tried.apply()).rejects.toThrow("Nothing was applied");
    expect(project.text("project/a.txt")).toBe("by the user\n");
    await tried.drop();
  });

  test("ends a process that the command leaves behind before the project is compared", async () => {
    const project = await makeProject();
    const tried = await tryIn(project, "(sleep 60; echo late >> a.txt) >/dev/null 2>&1 & echo done");
    expect(tried.described.summary).toBe("no changes");
    await tried.drop();
    const left = readdirSync("/proc").filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(project.root);
      } catch {
        return false;
      }
    });
    expect(left).toEqual([]);
  });

  test("names special files and files that control programs, and applies the rest", async () => {
    const project = await makeProject();
    const command =
      "mkfifo pipe; mkdir .vscode; echo '{}' > .vscode/tasks.json; echo x > made; ln -s ../x .github; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")' 2>/dev/null || true";
    const tried = await tryIn(project, command);
    expect(tried.described.lines.filter((line) => line.startsWith("Never"))).toEqual(
      expect.arrayContaining([
        "Never applied: .vscode/, because it controls other programs.",
        "Never applied: pipe, because it is a pipe.",
        "Never applied: .github, because it controls other programs.",
      ]),
    );
    await tried.apply();
    await tried.drop();
    expect(readdirSync(project.root).sort()).toEqual(["a.txt", "dir", "gone.txt", "made"]);
  });

  test("commits in an existing repository and can be applied", async () => {
    const project = await makeProject();
    const git = (command: string) =>
      Bun.spawnSync(["sh", "-c", command], {
        cwd: project.root,
        env: { PATH: process.env.PATH ?? "", HOME: project.home },
      }).stdout.toString();
    git("git init -q && git add . && git commit -qm first");
    const tried = await tryIn(
      project,
      "echo x >> a.txt && git commit -qam second && git log --oneline | wc -l",
    );
    expect(tried.result.output.trim()).toBe("2");
    expect(git("git log --format=%s")).toBe("first\n");
    expect(await tried.apply()).toEqual([]);
    await tried.drop();
    expect(git("git log --format=%s; git status --short; git fsck 2>&1")).toBe("second\nfirst\n");
  });

  test("has temporary files of the session at hand and leaves them as they are", async () => {
    const project = await makeProject();
    await project.run("echo kept > $TMPDIR/file");
    const tried = await tryIn(project, "cat $TMPDIR/file; echo changed > $TMPDIR/file; touch $TMPDIR/other");
    expect(tried.result.output).toBe("kept");
    expect(tried.described.summary).toBe("no changes");
    await tried.drop();
    expect(readdirSync(join(project.session, "tmp"))).toEqual(["file"]);
    expect(project.text("session/tmp/file")).toBe("kept\n");
  });

  test("sees no process of the session and reaches no server of it", async () => {
    const project = await makeProject();
    await project.run("sleep 100 & echo $! > $TMPDIR/pid");
    const tried = await tryIn(
      project,
      "ls /proc | grep -c '^[0-9]' ; ps -e -o args 2>/dev/null | grep 'sleep 10[0]'; kill $(cat $TMPDIR/pid)",
    );
    expect(tried.result.output).not.toContain("sleep 100");
    await tried.drop();
    expect((await project.run("kill -0 $(cat $TMPDIR/pid) && echo alive")).output).toStartWith("alive");
  });

  test("lists the hosts that the command wanted and reaches none", async () => {
    const project = await makeProject();
    let requests = 0;
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(`${++requests}`) });
    const tried = await tryIn(
      project,
      `curl -sS -m 5 http://host.example/; curl -sS -m 5 --noproxy '*' http://127.0.0.1:${server.port}/`,
    );
    expect(tried.described.lines).toEqual(["Connections wanted, none was made: host.example:80"]);
    expect(requests).toBe(0);
    await tried.drop();
  });

  test("keeps other hard links of a changed file as they are, and says so", async () => {
    const project = await makeProject();
    linkSync(project.at("project/a.txt"), project.at("elsewhere"));
    const tried = await tryIn(project, "echo three >> a.txt");
    expect(tried.described.lines).toEqual(["M a.txt (1 other hard link would keep the old content)"]);
    await tried.apply();
    await tried.drop();
    expect(project.text("elsewhere")).toBe("one\ntwo\n");
    expect(project.text("project/a.txt")).toBe("one\ntwo\nthree\n");
  });

  test("puts nothing outside the project where a directory has become a link meanwhile", async () => {
    const project = await makeProject();
    project.put("outside/keep", "");
    const tried = await tryIn(project, "echo x > dir/made");
    const { renameSync } = await import("node:fs");
    renameSync(project.at("project/dir"), project.at("project/moved"));
    symlinkSync(project.at("outside"), project.at("project/dir"));
    await expect(tried.apply()).rejects.toThrow();
    await tried.drop();
    expect(readdirSync(project.at("outside"))).toEqual(["keep"]);
  });

  test("works in a project whose name contains what separates mount options", async () => {
    const project = await makeBoxedProject({ name: "a,b:c d'e\\f" });
    project.put("a,b:c d'e\\f/file", "1\n");
    const tried = await tryIn(project, "echo 2 >> file", { kinds: ["overlay"] });
    expect(tried.described.lines).toEqual(["M file"]);
    await tried.drop();
  });

  test("says in one line why there is none where commands run unsandboxed", async () => {
    const project = await makeProject();
    const workspace = {
      ...project.workspace,
      sandboxState: async () => ({ kind: "open" as const, problem: "bwrap not found in PATH" }),
    };
    await expect(tryIn({ ...project, workspace }, "true")).rejects.toThrow(
      "A dry run is not available here: bwrap not found in PATH.",
    );
  });

  test("says in one line when a project is too large to be copied", async () => {
    const project = await makeProject();
    project.put("project/large", "x".repeat(257 * 1024 * 1024));
    await expect(tryIn(project, "true", { kinds: ["copy"] })).rejects.toThrow(
      "A dry run is not available here: the project has more than 256 MB, too much to copy for each dry run.",
    );
  });
});
