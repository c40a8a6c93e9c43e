import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { makeKeptProject } from "../support/kept-project.ts";

function makeBare({ put, at }: Pick<ReturnType<typeof makeKeptProject>, "put" | "at">, directory: string) {
  put(`${directory}HEAD`, "ref: refs/heads/main\n");
  put(`${directory}config`);
  for (const name of ["objects", "refs", "hooks"]) mkdirSync(at(`${directory}${name}`), { recursive: true });
}

describe("a project that a command makes look like a repository", () => {
  test("stays protected, loses nothing, and excludes what the same command created beside it", async () => {
    const place = makeKeptProject();
    for (const path of [
      "CLAUDE.md",
      ".env",
      ".git/config",
      "config/app.yml",
      "hooks/use.ts",
      "lib/AGENTS.md",
    ])
      place.put(path);
    const held = place.held();
    await place.run(() => {
      for (const name of ["objects", "refs"]) mkdirSync(place.at(name));
      place.put("HEAD", "ref: refs/heads/x\n");
      place.put("AGENTS.md", "CANARY\n");
      place.put("lib/CLAUDE.md", "CANARY\n");
      place.put("objects/CLAUDE.md", "CANARY\n");
    });
    expect(place.moved()).toEqual(["AGENTS.md", "HEAD", "lib/CLAUDE.md", "objects/CLAUDE.md"]);
    expect(place.held()).toEqual(held);
    for (const name of ["objects", "refs"]) rmSync(place.at(name), { recursive: true });
    await place.run(() => {});
    expect(place.moved()).toHaveLength(4);
    expect(readdirSync(place.root).toSorted()).toEqual(
      [".env", ".git", "CLAUDE.md", "config", "hooks", "lib"].toSorted(),
    );
  });

  test("is distinguished from one whose directories only have such names", async () => {
    const place = makeKeptProject();
    for (const path of ["head/CLAUDE.md", "objects/a", "refs/b"]) place.put(path);
    expect(place.held()).toEqual(["head/CLAUDE.md"]);
    await place.run(() => place.put("AGENTS.md", "CANARY\n"));
    expect(place.moved()).toEqual(["AGENTS.md"]);
  });

  test("and that is one is still scanned", async () => {
    const place = makeKeptProject();
    makeBare(place, "");
    place.put("main/CLAUDE.md");
    expect(place.held()).toEqual(["config", "hooks", "main/CLAUDE.md"]);
    await place.run(() => place.put("main/.env", "CANARY\n"));
    expect(place.moved()).toEqual(["main/.env"]);
  });
});

describe("a directory that a command makes look like a repository", () => {
  test("stays in place, and what made it one is moved away", async () => {
    const place = makeKeptProject();
    for (const path of ["src/app.ts", "src/config/x", "src/hooks/y", "src/CLAUDE.md"]) place.put(path);
    const notes = await place.run(() => {
      for (const name of ["HEAD", "commondir"]) place.put(`src/${name}`, "");
    });
    expect(place.moved()).toEqual(["src/HEAD"]);
    expect(notes).toEqual([expect.stringContaining("src/HEAD was moved to")]);
    expect(readdirSync(place.at("src")).toSorted()).toEqual(
      ["CLAUDE.md", "app.ts", "commondir", "config", "hooks"].toSorted(),
    );
  });

  test("loses what made it one, of any kind", async () => {
    for (const make of [
      (path: string) => writeFileSync(path, "", { mode: 0o755 }),
      (path: string) => expect(Bun.spawnSync(["mkfifo", "-m", "755", path]).exitCode).toBe(0),
    ]) {
      const place = makeKeptProject();
      for (const path of ["src/app.ts", "assets/HEAD", "pipe/objects/o"]) place.put(path);
      await place.run(() => {
        for (const path of ["src/objects", "src/refs", "assets/objects", "assets/refs", "pipe/refs"])
          make(place.at(path));
        place.put("src/HEAD", "ref: refs/heads/x\n");
        make(place.at("pipe/HEAD"));
      });
      const gone = ["src/HEAD", "assets/objects", "assets/refs", "pipe/HEAD"];
      expect(gone.filter((path) => existsSync(place.at(path)))).toEqual([]);
      expect(existsSync(place.at("assets/HEAD"))).toBe(true);
    }
  });

  test("keeps the HEAD that was in it before", async () => {
    const place = makeKeptProject();
    for (const path of ["assets/HEAD", "assets/objects/o", "media/Head/a", "media/objects/o"])
      place.put(path);
    await place.run(() => {
      mkdirSync(place.at("assets/refs"));
      mkdirSync(place.at("media/refs"));
    });
    expect(place.moved()).toEqual(["assets/refs"]);
    expect(existsSync(place.at("assets/HEAD"))).toBe(true);
  });

  test("may be one that was one before, wherever a directory above it was moved", async () => {
    const place = makeKeptProject();
    makeBare(place, "a/bare/");
    await place.run(() => renameSync(place.at("a"), place.at("b")));
    expect([place.moved(), place.held()]).toEqual([[], ["b/bare", "b/bare/config", "b/bare/hooks"]]);
  });

  test("is not accepted as a repository again after its HEAD was missing for a while", async () => {
    const place = makeKeptProject();
    makeBare(place, "bare/");
    await place.run(() => rmSync(place.at("bare/HEAD")));
    await place.run(() => place.put("bare/HEAD", "ref: refs/heads/main\n"));
    expect(place.moved()).toEqual(["bare/HEAD"]);
    expect(readdirSync(place.at("bare")).toSorted()).toEqual(["config", "hooks", "objects", "refs"]);
  });
});
