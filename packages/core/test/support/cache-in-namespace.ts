import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CachedPlace, DirectoryCache } from "../../src/infrastructure/fs/directory-cache.ts";

// A program for tests to run as an administrator in namespaces of its own, where it may mount and limit watches. Prints what a scan of three directories finds before and after a file has come, as JSON.
const [change] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), "diligent-cache-"));
try {
  for (const name of ["xa", "xb", "xc"]) mkdirSync(join(root, name));
  if (change === "limit") writeFileSync("/proc/sys/user/max_inotify_watches", "2");
  using cache = new DirectoryCache({
    summarize: (_: CachedPlace, entries) =>
      entries.map(({ name }) => name).filter((name) => name.startsWith("x")),
    mayCount: (name) => name.startsWith("x"),
  });
  const scan = () => {
    const isSame = cache.update();
    cache.startOver();
    const found: Record<string, readonly string[]> = {};
    const places = [{ path: root, isInPlace: false }];
    for (const { path, isInPlace } of places) {
      const reading = cache.read({ path, role: "tree" }, isInPlace);
      if (reading === undefined || "unlistable" in reading) continue;
      found[path.slice(root.length + 1)] = reading.directory.content.toSorted();
      for (const name of reading.directory.content)
        places.push({ path: `${path}/${name}`, isInPlace: reading.isInPlace });
    }
    cache.forgetOthers();
    return { found, isSame };
  };
  scan();
  const second = scan();
  if (change === "mount") {
    mkdirSync(join(root, "other"));
    writeFileSync(join(root, "other/xnew"), "");
    scan();
    const { status, stderr } = spawnSync("mount", ["--bind", join(root, "other"), join(root, "xb")]);
    if (status !== 0) throw new Error(String(stderr));
  } else writeFileSync(join(root, "xb/xnew"), "");
  console.log(JSON.stringify({ before: second, after: scan() }));
} finally {
  spawnSync("umount", [join(root, "xb")]);
  rmSync(root, { recursive: true, force: true });
}
