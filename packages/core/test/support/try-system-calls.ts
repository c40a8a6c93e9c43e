import { dlopen, FFIType, ptr, read } from "bun:ffi";
import { readFileSync } from "node:fs";

// A program for tests to run in a box: makes system calls that are refused there, and prints what came of each as JSON.
const { i64, pointer } = FFIType;
const libc = dlopen("libc.so.6", {
  syscall: { args: [i64, i64, i64, i64, i64, i64], returns: i64 },
  __errno_location: { args: [], returns: pointer },
});

const NUMBERS = {
  x64: { socket: 41, ioctl: 16, add_key: 248, request_key: 249, keyctl: 250 },
  arm64: { socket: 198, ioctl: 29, add_key: 217, request_key: 218, keyctl: 219 },
};
const IO_URING_SETUP = 425;
const number = process.arch === "arm64" ? NUMBERS.arm64 : NUMBERS.x64;
// Large enough for a struct io_uring_params; empty strings for everything else.
const memory = ptr(new Uint8Array(256));

/** The error number, 0 where the call was carried out. */
function attempt(call: number, ...words: number[]): number {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = words;
  const result = Number(libc.symbols.syscall(call, first, second, third, fourth, fifth));
  const place = libc.symbols.__errno_location();
  return result >= 0 || place === null ? 0 : read.i32(place);
}

const STREAM = 1;
const sockets = { unix: 1, ipv4: 2, ipv6: 10, netlink: 16, packet: 17, bluetooth: 31, alg: 38, vsock: 40 };
console.log(
  JSON.stringify({
    sockets: Object.fromEntries(
      Object.entries(sockets).map(([name, family]) => [
        name,
        attempt(number.socket, family, name === "netlink" || name === "packet" ? 3 : STREAM, 0),
      ]),
    ),
    keyrings: [
      attempt(number.add_key, memory, memory, memory, 0, -3),
      attempt(number.request_key, memory, memory, 0, 0),
      attempt(number.keyctl, 0, -3, 0),
    ],
    io_uring: attempt(IO_URING_SETUP, 1, memory),
    // TIOCSTI and TIOCLINUX of what is no terminal: without a filter that is another error.
    terminalInput: [attempt(number.ioctl, 0, 0x5412, memory), attempt(number.ioctl, 0, 0x541c, memory)],
    // The number of a session that was begun outside of the box's process namespace is 0.
    session: Number(readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[3]),
  }),
);
