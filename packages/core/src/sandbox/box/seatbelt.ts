import type { BoxPlaces } from "./box-places.ts";

/**
 * The rules by which macOS runs a command in the same box, in the language of sandbox-exec. The last that matches counts.
 * Processes outside can be seen, which is more than on Linux, and not touched.
 */
export function toSeatbeltProfile(places: BoxPlaces): string {
  const { temporary } = places;
  const writable = [...places.writable, ...places.fixed, ...(temporary ? [temporary.files] : [])];
  const lines = [
    "(version 1)",
    "(allow default)",
    "(deny network*)",
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    "(deny mach-priv* iokit-set-properties nvram* system-socket)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))',
    ...writable.map((path) => `(allow file-write* (subpath ${quote(path)}))`),
    ...places.fixed.map((path) => `(deny file-write-unlink (literal ${quote(path)}))`),
    ...places.protected.flatMap((path) => [
      `(deny file-write* (subpath ${quote(path)}))`,
      ...parentsBelow(path, places.writable).map(
        (parent) => `(deny file-write-unlink (literal ${quote(parent)}))`,
      ),
    ]),
    ...[...places.hiddenDirectories, ...places.hiddenFiles].map(
      (path) => `(deny file-read* file-write* (subpath ${quote(path)}))`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** The command line that runs `argv` under a profile. */
export function toSeatbeltArguments(program: string, profile: string, argv: readonly string[]): string[] {
  return [program, "-p", profile, ...argv];
}

/** The directories a path lies in, as far as commands may write to them. */
function parentsBelow(path: string, writable: readonly string[]): string[] {
  const parts = path.split("/");
  const parents = parts.map((_, index) => parts.slice(0, index).join("/"));
  return parents.filter((parent) => writable.some((root) => parent.startsWith(`${root}/`)));
}

function quote(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}
