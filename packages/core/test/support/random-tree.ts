import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";

/** Chance that repeats: the same seed gives the same numbers (mulberry32). */
export class Chance {
  constructor(private state: number) {}

  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  pick<T>(values: readonly T[]): T | undefined {
    return values[this.below(values.length)];
  }
}

// Only the superuser reads what nobody may read; for others it cannot be kept.
const FILE_MODES = [0o644, 0o600, 0o755, 0o444, 0o4755, process.getuid?.() === 0 ? 0o000 : 0o400];
const DIRECTORY_MODES = [0o755, 0o700, 0o1777, 0o555];
// The last one is no UTF-8.
const NAMES = ["a", "b.txt", "c d", "new\nline", "-rf", "ü", "x".repeat(20)].map((name) => Buffer.from(name));
NAMES.push(Buffer.from("bad\xff\xfe", "latin1"));

interface Tree {
  root: string;
  chance: Chance;
  /** One of the paths in it, if there is any, and a place where nothing is. */
  path: Buffer | undefined;
  free: Buffer;
}

const CHANGES: readonly ((tree: Tree) => void)[] = [
  ({ free, chance }) => write(free, chance),
  ({ free, chance }) => write(free, chance),
  ({ path, chance }) => {
    if (path && lstatSync(path).isFile()) write(path, chance);
  },
  ({ path }) => {
    if (path) rmSync(path, { recursive: true });
  },
  ({ path, free }) => {
    if (path && !isBelow(free, path)) renameSync(path, free);
  },
  ({ path, chance }) => changeMode(path, chance),
  ({ free, chance }) => symlinkSync(chance.pick(["a", "../b.txt", "/etc/passwd", "no where"]) ?? "a", free),
  ({ free }) => void mkdirSync(free),
  ({ free }) => void mkdirSync(free),
  ({ path, chance }) => {
    if (!path) return;
    rmSync(path, { recursive: true });
    if (chance.below(2) === 0) mkdirSync(path);
    else write(path, chance);
  },
];

/** Changes something in a tree, as some program could; what the system refuses is left undone. */
export function changeSomething(root: string, chance: Chance): void {
  const paths = listPaths(root);
  const tree = { root, chance, path: chance.pick(paths), free: freePlace(root, paths, chance) };
  try {
    chance.pick(CHANGES)?.(tree);
  } catch {
    // Permissions stand in the way of whoever is not the superuser.
  }
}

function write(path: Buffer, chance: Chance): void {
  const size = chance.pick([0, 1, 20, 3000, 70_000]) ?? 0;
  const byte = () => chance.below(256);
  const content =
    chance.below(2) === 0
      ? Buffer.from(Array.from({ length: Math.min(size, 300) }, byte))
      : "line\n".repeat(size / 5);
  try {
    chmodSync(path, 0o644);
  } catch {
    // It is made now.
  }
  writeFileSync(path, content);
}

function changeMode(path: Buffer | undefined, chance: Chance): void {
  if (path === undefined || lstatSync(path).isSymbolicLink()) return;
  chmodSync(path, chance.pick(lstatSync(path).isDirectory() ? DIRECTORY_MODES : FILE_MODES) ?? 0o755);
}

function listPaths(root: string): Buffer[] {
  const paths: Buffer[] = [];
  const visit = (directory: Buffer) => {
    for (const name of readdirSync(directory, { encoding: "buffer" }).sort(Buffer.compare)) {
      const path = Buffer.concat([directory, Buffer.from("/"), name]);
      paths.push(path);
      if (lstatSync(path).isDirectory()) visit(path);
    }
  };
  visit(Buffer.from(root));
  return paths;
}

function freePlace(root: string, paths: readonly Buffer[], chance: Chance): Buffer {
  const directories = [Buffer.from(root), ...paths.filter((path) => lstatSync(path).isDirectory())];
  for (;;) {
    const place = Buffer.concat(
      [chance.pick(directories) ?? Buffer.from(root), Buffer.from("/"), chance.pick(NAMES) ?? ""].map(
        toBuffer,
      ),
    );
    if (!paths.some((path) => path.equals(place))) return place;
    directories.push(Buffer.from(root));
    if (chance.below(8) === 0) return Buffer.from(`${root}/free-${chance.below(1e9)}`);
  }
}

function toBuffer(part: Buffer | string): Buffer {
  return typeof part === "string" ? Buffer.from(part) : part;
}

function isBelow(place: Buffer, path: Buffer): boolean {
  return place.subarray(0, path.length + 1).equals(Buffer.concat([path, Buffer.from("/")]));
}
