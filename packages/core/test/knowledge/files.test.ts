import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createStaleCheck, findMentionedFiles } from "../../src/knowledge/stale-files.ts";
import type { KnowledgeEntry } from "../../src/knowledge/types.ts";
import { knowledge } from "../support/knowledge-entry.ts";
import { makeTempDir } from "../support/temp-dir.ts";

let root: string;

beforeEach(() => {
  root = join(makeTempDir(), "project");
  for (const path of ["src/a.ts", "src/b.ts", "README.md", "Makefile"]) put(path);
});

function put(path: string, content: string | Uint8Array = `This is ${path}.`): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  return join(root, path);
}

function sha256(content: string): string {
  return Bun.SHA256.hash(content, "hex");
}

describe("the files that a text names", () => {
  const pathsIn = (content: string) => findMentionedFiles(content, root).map(({ path }) => path);

  test("are stored by their path from the project root with the hash of their content", () => {
    expect(findMentionedFiles("Styles live in src/a.ts.", root)).toEqual([
      { path: "src/a.ts", hash: sha256("This is src/a.ts.") },
    ]);
  });

  test.each([
    ["`src/a.ts:12` and src/b.ts:3:14, also README.md!", ["src/a.ts", "src/b.ts", "README.md"]],
    ['Edit "./src/a.ts" (not [README.md](src/b.ts)).', ["src/a.ts", "README.md", "src/b.ts"]],
    ["src/a.ts:10-20 src/a.ts src//a.ts", ["src/a.ts"]],
    ["src/gone.ts, src/, src, Makefile, e.g. 1.5 ... /", []],
    ["https://example.com/src/a.ts", []],
    ["../outside.ts src/../../outside.ts /etc/passwd ~/.bashrc", []],
  ])("in %p are %p", (content, expected) => {
    writeFileSync(join(root, "..", "outside.ts"), "x");
    expect(pathsIn(content)).toEqual(expected);
  });

  test("are found by an absolute path inside the project too", () => {
    expect(pathsIn(`See ${join(root, "src/a.ts")}.`)).toEqual(["src/a.ts"]);
  });

  test("are five at most", () => {
    const paths = Array.from({ length: 9 }, (_, index) => `f${index}.txt`);
    for (const path of paths) put(path);
    expect(pathsIn(paths.join(" "))).toEqual(paths.slice(0, 5));
  });

  test("exclude secrets, files of git and diligent, links out of the project and non-files", () => {
    put(".env");
    put("keys/server.pem");
    put(".git/config");
    put(".diligent/knowledge/knowledge.jsonl");
    mkdirSync(join(root, "dir.d"));
    Bun.spawnSync(["mkfifo", join(root, "pipe.p")]);
    symlinkSync("/etc/hostname", join(root, "out.txt"));
    symlinkSync(".env", join(root, "harmless.txt"));
    symlinkSync("loop.txt", join(root, "loop.txt"));
    const names = ".env keys/server.pem .git/config .diligent/knowledge/knowledge.jsonl";
    expect(pathsIn(`${names} dir.d pipe.p out.txt harmless.txt loop.txt a\0.ts`)).toEqual([]);
  });
});

describe("an entry is possibly stale", () => {
  const LONG_AGO = "2020-01-01T00:00:00.000Z";
  const later = () => new Date(Date.now() + 60_000).toISOString();

  function about(path: string, timestamp = LONG_AGO): KnowledgeEntry {
    return knowledge("a", { timestamp, files: findMentionedFiles(path, root) });
  }

  function changedFile(entry: KnowledgeEntry): string | undefined {
    return createStaleCheck(root)(entry);
  }

  test("once the content of one of its files has changed, not if it was only touched", () => {
    const entry = about("src/a.ts src/b.ts");
    expect(changedFile(entry)).toBeUndefined();
    utimesSync(join(root, "src/b.ts"), new Date(), new Date());
    expect(changedFile(entry)).toBeUndefined();
    put("src/b.ts", "Something else.");
    expect(changedFile(entry)).toBe("src/b.ts");
    put("src/b.ts");
    expect(changedFile(entry)).toBeUndefined();
  });

  test("once a large file has changed in its size, its beginning or its end", () => {
    const large = new Uint8Array(3 * 1024 * 1024);
    put("large.bin", large);
    const entry = about("large.bin");
    expect(entry.files).toEqual([{ path: "large.bin", hash: expect.stringMatching(/^parts:[0-9a-f]{64}$/) }]);
    expect(changedFile(entry)).toBeUndefined();
    for (const change of [
      (bytes: Uint8Array) => bytes.with(0, 1),
      (bytes: Uint8Array) => bytes.with(bytes.length - 1, 1),
      (bytes: Uint8Array) => bytes.subarray(1),
    ]) {
      put("large.bin", change(large));
      expect(changedFile(entry)).toBe("large.bin");
    }
    put("large.bin", large);
    expect(changedFile(entry)).toBeUndefined();
  });

  test("once one of its files is missing or has become large", () => {
    const entry = about("src/a.ts");
    put("src/a.ts", new Uint8Array(1024 * 1024 + 1));
    expect(changedFile(entry)).toBe("src/a.ts");
    rmSync(join(root, "src"), { recursive: true });
    expect(changedFile(entry)).toBe("src/a.ts");
    writeFileSync(join(root, "src"), "a file in the directory's place");
    expect(changedFile(entry)).toBe("src/a.ts");
  });

  test("not without files, and not because of unreadable files", () => {
    put(".env");
    symlinkSync("/etc/hostname", join(root, "out.txt"));
    const paths = ["../x", "/etc/passwd", ".env", "out.txt", ".git/HEAD", "src", "a\0b"];
    const files = paths.map((path) => ({ path, hash: "0" }));
    expect([
      changedFile(knowledge("a")),
      changedFile(knowledge("a", { files, timestamp: LONG_AGO })),
    ]).toEqual([undefined, undefined]);
  });

  test("by content alone: a file that was not touched since is not even read", () => {
    const files = [{ path: "src/a.ts", hash: "what nothing has" }];
    expect(changedFile(knowledge("a", { files, timestamp: later() }))).toBeUndefined();
    expect(changedFile(knowledge("a", { files, timestamp: LONG_AGO }))).toBe("src/a.ts");
    expect(changedFile(knowledge("a", { files, timestamp: "some time ago" }))).toBe("src/a.ts");
  });

  test("for the first 200 files", () => {
    const check = createStaleCheck(root);
    const gone = Array.from({ length: 250 }, (_, index) =>
      knowledge(`id${index}`, { files: [{ path: `gone${index}.ts`, hash: "0" }] }),
    );
    expect(gone.filter((entry) => check(entry) !== undefined).length).toBe(200);
  });
});
