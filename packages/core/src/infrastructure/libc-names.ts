import { arch } from "node:os";
import { platformName } from "./runtime.ts";

/** Names under which the C library may be loaded, the most likely first. */
export function libcNames(): string[] {
  if (platformName() === "darwin") return ["libSystem.dylib"];
  const machine = arch() === "arm64" ? "aarch64" : "x86_64";
  return ["libc.so.6", `libc.musl-${machine}.so.1`];
}
