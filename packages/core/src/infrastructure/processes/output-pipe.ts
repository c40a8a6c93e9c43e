/** Both ends of a pipe, as file descriptors that no other child inherits; whoever opened it closes them. */
export interface OutputPipe {
  readEnd: number;
  writeEnd: number;
}

type MakePipe = (descriptors: Int32Array) => number;

// Linux on x86-64 and arm64, from fcntl.h.
const O_CLOEXEC = 0o2000000;

/** What the C library is called: GNU's, and musl's for both kinds of machine. */
export const C_LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

let makePipe: MakePipe | undefined | "not looked for" = "not looked for";

/**
 * Opens a pipe for the output of a command, or returns undefined where the C library cannot be reached.
 *
 * Bun's own `stdout: "pipe"` is a socket: `echo oops > /dev/stderr` fails in such a child, and two sockets lose the order
 * in which a command wrote to stdout and stderr.
 */
export async function openOutputPipe(): Promise<OutputPipe | undefined> {
  if (makePipe === "not looked for") makePipe = await findMakePipe();
  const descriptors = new Int32Array(2);
  if (makePipe === undefined || makePipe(descriptors) !== 0) return undefined;
  const [readEnd, writeEnd] = descriptors;
  return readEnd === undefined || writeEnd === undefined ? undefined : { readEnd, writeEnd };
}

async function findMakePipe(): Promise<MakePipe | undefined> {
  if (process.platform !== "linux") return undefined;
  const { dlopen } = await import("bun:ffi");
  for (const library of C_LIBRARIES) {
    try {
      const { symbols } = dlopen(library, { pipe2: { args: ["ptr", "i32"], returns: "i32" } });
      return (descriptors) => symbols.pipe2(descriptors, O_CLOEXEC);
    } catch {
      // Not this C library; without any, the output comes through sockets.
    }
  }
  return undefined;
}
