import { dlopen, FFIType } from "bun:ffi";
import { arch } from "node:os";
import { platformName } from "../environment.ts";

// Given to every file by the system itself, and given again to the file that takes its place.
const GIVEN_BY_THE_SYSTEM = new Set(["security.selinux", "com.apple.provenance"]);
const MAX_NAMES_BYTES = 64 * 1024;

type ListNames = (path: Uint8Array, names: Uint8Array) => bigint | number;

let listNames: ListNames | undefined;

/**
 * True when the file carries attributes that a new file in its place would lose: access lists, capabilities, the
 * user's own. False also where the system cannot be asked.
 */
export function hasExtendedAttributes(path: string): boolean {
  listNames ??= loadListNames();
  const names = new Uint8Array(MAX_NAMES_BYTES);
  const length = Number(listNames(Buffer.from(`${path}\0`), names));
  if (length <= 0) return false;
  const text = Buffer.from(names.subarray(0, length)).toString();
  return text.split("\0").some((name) => name !== "" && !GIVEN_BY_THE_SYSTEM.has(name));
}

/** Neither Node nor Bun can list extended attributes, so the C library is called. */
function loadListNames(): ListNames {
  const { ptr, u64, i64, int } = FFIType;
  for (const library of libraryNames()) {
    try {
      if (platformName() === "darwin") {
        const { symbols } = dlopen(library, { listxattr: { args: [ptr, ptr, u64, int], returns: i64 } });
        return (path, names) => symbols.listxattr(path, names, names.length, 0);
      }
      const { symbols } = dlopen(library, { listxattr: { args: [ptr, ptr, u64], returns: i64 } });
      return (path, names) => symbols.listxattr(path, names, names.length);
    } catch {
      // Not this library; the next one, or in the end the answer "no attributes".
    }
  }
  return () => 0;
}

function libraryNames(): string[] {
  if (platformName() === "darwin") return ["libSystem.dylib"];
  const machine = arch() === "arm64" ? "aarch64" : "x86_64";
  return ["libc.so.6", `libc.musl-${machine}.so.1`];
}
