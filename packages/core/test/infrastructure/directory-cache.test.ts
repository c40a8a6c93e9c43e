import { afterEach, expect, test } from "bun:test";
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { DirectoryEntry } from "../../src/infrastructure/fs/directory.ts";
import { type CachedPlace, DirectoryCache } from "../../src/infrastructure/fs/directory-cache.ts";
import { DirectoryWatch } from "../../src/infrastructure/fs/directory-watch.ts";
import { toSystemPath } from "../../src/infrastructure/fs/stat.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { describeUnless } from "../support/test-unless.ts";

const obstacle = findObstacle();
const caches: Disposable[] = [];

afterEach(() => {
  for (const cache of caches.splice(0)) cache[Symbol.dispose]();
});

/** Why directories cannot be watched here. */
function findObstacle(): string | undefined {
  using watch = DirectoryWatch.open();
  if (watch === undefined) return "the system has no inotify";
  const root = makeTempDir();
  const number = watch.add(root, String(lstatSync(root).dev));
  return number === undefined ? "the file system of the temporary directory is not watched" : undefined;
}

/** A cache of names, and what was read from the disk. Only names that begin with "x" count. */
function createCache({ isWatching = true } = {}) {
  const read: string[] = [];
  const reader = {
    summarize(place: CachedPlace, entries: readonly DirectoryEntry[]) {
      read.push(place.path);
      return entries.map(({ name }) => name).filter((name) => name.startsWith("x"));
    },
    mayCount: (name: string) => name.startsWith("x"),
  };
  const cache = new DirectoryCache(reader, { isWatching });
  caches.push(cache);
  const root = makeTempDir();
  const at = (path: string) => `${root}/${path}`;
  return {
    ...{ cache, root, at, read },
    /** Reads a tree, and returns the names that count by path. */
    scan() {
      cache.update();
      cache.startOver();
      const found: Record<string, readonly string[]> = {};
      const places = [{ path: root, isInPlace: false }];
      for (const { path, isInPlace } of places) {
        const reading = cache.read({ path, role: "tree" }, isInPlace);
        if (reading === undefined || "unlistable" in reading) continue;
        const names = reading.directory.content;
        found[path.slice(root.length + 1)] = names.toSorted();
        for (const name of names) places.push({ path: `${path}/${name}`, isInPlace: reading.isInPlace });
      }
      cache.forgetOthers();
      return found;
    },
  };
}

function makeDirectories(at: (path: string) => string, ...paths: string[]): void {
  for (const path of paths) mkdirSync(at(path), { recursive: true });
}

describeUnless(obstacle)("a directory that was read before", () => {
  test("is not read again until a relevant name is added or removed", () => {
    const { at, read, scan } = createCache();
    makeDirectories(at, "xa/xb", "xc");
    const first = scan();
    expect(read).toHaveLength(4);
    for (let index = 0; index < 50; index += 1) writeFileSync(at(`xa/built-${index}.o`), "");
    rmSync(at("xa/built-1.o"));
    expect(scan()).toEqual(first);
    expect(read).toHaveLength(4);
  });

  test("is read again, and no other, when such a name comes", () => {
    const { at, read, scan, root } = createCache();
    makeDirectories(at, "xa/xb", "xc");
    scan();
    read.length = 0;
    writeFileSync(at("xa/xb/xnew"), "");
    expect(scan()["xa/xb"]).toEqual(["xnew"]);
    expect(read).toEqual([join(root, "xa/xb")]);
  });

  // Every process that may write to a directory can set its times of access and modification.
  const WAYS: Record<string, (at: (path: string) => string) => void> = {
    "with its times set back": (at) => {
      const { atimeMs, mtimeMs } = lstatSync(at("xa/xb"));
      writeFileSync(at("xa/xb/xnew"), "");
      utimesSync(at("xa/xb"), atimeMs / 1000, mtimeMs / 1000);
    },
    "through an open directory": (at) => {
      const descriptor = openSync(at("xa/xb"), "r");
      writeFileSync(`/proc/self/fd/${descriptor}/xnew`, "");
      closeSync(descriptor);
    },
    "by a directory that takes its place": (at) => {
      makeDirectories(at, "other");
      writeFileSync(at("other/xnew"), "");
      renameSync(at("xa/xb"), at("away"));
      renameSync(at("other"), at("xa/xb"));
    },
    "while it was away": (at) => {
      renameSync(at("xa/xb"), at("away"));
      writeFileSync(at("away/xnew"), "");
      renameSync(at("away"), at("xa/xb"));
    },
    "while the directory around it was away": (at) => {
      renameSync(at("xa"), at("away"));
      writeFileSync(at("away/xb/xnew"), "");
      renameSync(at("away"), at("xa"));
    },
    "by one with its number": (at) => {
      rmdirSync(at("xa/xb"));
      mkdirSync(at("xa/xb"));
      writeFileSync(at("xa/xb/xnew"), "");
    },
    "by exchange with one that was read, too": (at) => {
      writeFileSync(at("xc/xnew"), "");
      renameSync(at("xa/xb"), at("away"));
      renameSync(at("xc"), at("xa/xb"));
      renameSync(at("away"), at("xc"));
    },
    "behind more events than the kernel keeps": (at) => {
      const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
      for (let index = 0; index < limit; index += 2) {
        writeFileSync(at("xc/x"), "");
        rmSync(at("xc/x"));
      }
      writeFileSync(at("xa/xb/xnew"), "");
    },
    "by a move": (at) => {
      writeFileSync(at("plain"), "");
      renameSync(at("plain"), at("xa/xb/xnew"));
    },
    "by a link": (at) => symlinkSync("nowhere", at("xa/xb/xnew")),
  };
  for (const [name, change] of Object.entries(WAYS))
    for (const isWatching of [true, false])
      test(`does not hide what comes ${name}${isWatching ? "" : ", where it cannot be watched"}`, () => {
        const { at, scan } = createCache({ isWatching });
        makeDirectories(at, "xa/xb", "xc");
        scan();
        scan();
        change(at);
        expect(scan()["xa/xb"]).toEqual(["xnew"]);
      });

  test("under another name is the same, and what comes there then is found", () => {
    const { at, scan } = createCache();
    makeDirectories(at, "xa/xb");
    scan();
    renameSync(at("xa"), at("xz"));
    expect(scan()).toEqual({ "": ["xz"], xz: ["xb"], "xz/xb": [] });
    writeFileSync(at("xz/xb/xnew"), "");
    expect(scan()["xz/xb"]).toEqual(["xnew"]);
  });

  test("in what was removed is forgotten, and found again when it is back", () => {
    const { at, scan } = createCache();
    makeDirectories(at, "xa/xb");
    scan();
    rmSync(at("xa"), { recursive: true });
    expect(scan()).toEqual({ "": [] });
    makeDirectories(at, "xa/xb/xc");
    expect(scan()).toEqual({ "": ["xa"], xa: ["xb"], "xa/xb": ["xc"], "xa/xb/xc": [] });
  });

  test("may have a name that is no text", () => {
    const { at, scan } = createCache();
    const name = "x\udcff";
    mkdirSync(toSystemPath(at(name)));
    expect(JSON.stringify(scan())).toBe(JSON.stringify({ "": [name], [name]: [] }));
    writeFileSync(toSystemPath(at(`${name}/x\udcfe`)), "");
    expect(JSON.stringify(scan()[name])).toBe(JSON.stringify(["x\udcfe"]));
  });

  test("tells whether anything has changed at all", () => {
    const { cache, at, scan } = createCache();
    makeDirectories(at, "xa");
    scan();
    expect(cache.update()).toBe(true);
    writeFileSync(at("xa/plain"), "");
    expect(cache.update()).toBe(true);
    writeFileSync(at("xa/xnew"), "");
    expect(cache.update()).toBe(false);
    scan();
    expect(cache.update()).toBe(true);
  });
});

/** The program in `cache-in-namespace.ts`, in namespaces in which it is an administrator. */
function scanInNamespace(change: "mount" | "limit" | "none") {
  const program = join(import.meta.dir, "..", "support", "cache-in-namespace.ts");
  const argv = ["unshare", "--user", "--map-root-user", "--mount", process.execPath, program, change];
  const { exitCode, stdout, stderr } = Bun.spawnSync(argv);
  if (exitCode !== 0) throw new Error(String(stderr));
  return JSON.parse(String(stdout));
}

const canUnshare = Bun.spawnSync(["unshare", "--user", "--map-root-user", "--mount", "true"]).exitCode === 0;

describeUnless(obstacle ?? (canUnshare ? undefined : "there are no user namespaces"))(
  "a directory with a file that comes",
  () => {
    const before = { "": ["xa", "xb", "xc"], xa: [], xb: [], xc: [] };
    const after = { ...before, xb: ["xnew"] };

    test("in a mount on it is read again, of which nobody is notified", () => {
      const scans = scanInNamespace("mount");
      expect(scans).toEqual({
        before: { found: before, isSame: true },
        after: { found: after, isSame: false },
      });
    });

    test("is read again where the user may watch only two directories", () => {
      const scans = scanInNamespace("limit");
      // It is never known that nothing has changed.
      expect(scans).toEqual({
        before: { found: before, isSame: false },
        after: { found: after, isSame: false },
      });
      expect(scanInNamespace("none").before.isSame).toBe(true);
    });
  },
);

describeUnless(obstacle)("two watchers of the same directory", () => {
  // Other tests mount something now and then.
  const noMounts = () => "";

  test("are both notified, each once", () => {
    const root = makeTempDir();
    const device = String(lstatSync(root).dev);
    const [one, other] = [DirectoryWatch.open(noMounts), DirectoryWatch.open(noMounts)];
    if (!one || !other) throw new Error("Directories cannot be watched.");
    caches.push(one, other);
    const watch = one.add(root, device);
    expect(other.add(root, device)).toBe(watch ?? -1);
    writeFileSync(join(root, "new"), "");
    const events = [{ watch: watch ?? -1, name: "new", isDirectory: false }];
    expect([one.read(), other.read(), one.read()]).toEqual([events, events, []]);
    one.remove(watch ?? -1);
    rmSync(join(root, "new"));
    expect([one.read(), other.read()]).toEqual([[], events]);
  });

  test("are told that events were lost when they do not read for long", () => {
    const root = makeTempDir();
    const device = String(lstatSync(root).dev);
    const [one, other] = [DirectoryWatch.open(noMounts), DirectoryWatch.open(noMounts)];
    if (!one || !other) throw new Error("Directories cannot be watched.");
    caches.push(one, other);
    for (const each of [one, other]) each.add(root, device);
    for (let rounds = 0; rounds < 21; rounds += 1) {
      for (let index = 0; index < 500; index += 1) {
        writeFileSync(join(root, "x"), "");
        rmSync(join(root, "x"));
      }
      expect(one.read()).toHaveLength(1_000);
    }
    expect([other.read(), other.read()]).toEqual([undefined, []]);
  });

  test("cannot watch what others may change unseen", () => {
    using watch = DirectoryWatch.open();
    expect(watch?.add("/proc", String(lstatSync("/proc").dev))).toBeUndefined();
  });
});
