import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Everything in a directory tree, a line for each path with its kind, permissions and content, sorted; names as bytes in
 * hexadecimal digits. Two trees with the same lines are the same byte for byte.
 */
export function describeTree(root: string, except: readonly string[] = []): string[] {
  const lines: string[] = [];
  const visit = (directory: Buffer) => {
    for (const name of readdirSync(directory, { encoding: "buffer" })) {
      const path = Buffer.concat([directory, Buffer.from("/"), name]);
      const shown = path.subarray(Buffer.byteLength(root) + 1);
      if (except.includes(shown.toString())) continue;
      const stats = lstatSync(path);
      const mode = (stats.mode & 0o7777).toString(8);
      const place = /^[\x20-\x7e]*$/.test(shown.toString("latin1"))
        ? shown.toString()
        : shown.toString("hex");
      if (stats.isSymbolicLink())
        lines.push(`${place} -> ${readlinkSync(path, { encoding: "buffer" }).toString("hex")}`);
      else if (stats.isDirectory()) {
        lines.push(`${place}/ ${mode}`);
        visit(path);
      } else if (stats.isFile())
        lines.push(`${place} ${mode} ${Bun.SHA256.hash(readFileSync(path), "hex").slice(0, 12)}`);
      else lines.push(`${place} special`);
    }
  };
  visit(Buffer.from(root));
  return lines.sort();
}
