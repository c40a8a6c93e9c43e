import { dlopen, FFIType } from "bun:ffi";

const { ptr, u64, i64, int } = FFIType;

/** Extended attributes of Linux files, for which there is no program on every machine. */
function openLibrary() {
  return dlopen("libc.so.6", {
    setxattr: { args: [ptr, ptr, ptr, u64, int], returns: int },
    getxattr: { args: [ptr, ptr, ptr, u64], returns: i64 },
  }).symbols;
}

const zeroEnded = (text: string) => Buffer.from(`${text}\0`);

/** False where the file system knows no such attributes. */
export function setAttribute(path: string, name: string, value: string): boolean {
  const bytes = Buffer.from(value);
  return openLibrary().setxattr(zeroEnded(path), zeroEnded(name), bytes, bytes.length, 0) === 0;
}

export function getAttribute(path: string, name: string): string | undefined {
  const value = Buffer.alloc(1_024);
  const length = Number(openLibrary().getxattr(zeroEnded(path), zeroEnded(name), value, value.length));
  return length < 0 ? undefined : value.subarray(0, length).toString();
}
