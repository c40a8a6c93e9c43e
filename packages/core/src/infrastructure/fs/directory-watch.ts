import { dlopen } from "bun:ffi";
import { closeSync, readFileSync, statfsSync } from "node:fs";
import { libcNames } from "../libc-names.ts";
import { platformName } from "../runtime.ts";
import { fromNameBytes, toSystemPath } from "./stat.ts";

/** An event of a name in a watched directory, or of the directory itself. */
export interface DirectoryEvent {
  /** As `add` returned it. */
  watch: number;
  /** Undefined for the directory itself: its mode or its location has changed, or it was removed. */
  name: string | undefined;
  isDirectory: boolean;
}

interface WatchCalls {
  inotify_init1(flags: number): number;
  inotify_add_watch(descriptor: number, path: Uint8Array, mask: number): number;
  inotify_rm_watch(descriptor: number, watch: number): number;
  read(descriptor: number, buffer: Uint8Array, size: number): number | bigint;
}

// From sys/inotify.h; O_NONBLOCK and O_CLOEXEC are the same on x86-64 and arm64.
const NONBLOCKING_AND_PRIVATE = 0o2004000;
const ATTRIBUTES = 0x4;
const NAMES_COME_AND_GO = 0x40 | 0x80 | 0x100 | 0x200;
const ITSELF_GOES = 0x400 | 0x800;
const DIRECTORIES_ONLY = 0x01000000;
const DO_NOT_FOLLOW = 0x02000000;
const WANTED = ATTRIBUTES | NAMES_COME_AND_GO | ITSELF_GOES | DIRECTORIES_ONLY | DO_NOT_FOLLOW;
const QUEUE_OVERFLOW = 0x4000;
const IS_DIRECTORY = 0x40000000;
const HEADER_BYTES = 16;
const BUFFER_BYTES = 64 * 1024;
// Six times the kernel's default limit.
const MAX_READS = 64;
// The limit of unread events; beyond it, reading everything again costs less.
const MAX_EVENTS = 20_000;
const NUL = 0;

// The other watches are left to the user's editors and servers: the limit applies to all programs of a user.
const SHARE_OF_WATCHES = 4;
const FEW_WATCHES = 2_048;

/**
 * File systems on which a directory is the same object to everybody on this machine, so that the kernel notices every change:
 * ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, bcachefs. From linux/magic.h.
 */
const NOTICED: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010, 0x2fc12fc1, 0xca451a4e],
]);

/**
 * Watches directories for names that come and go. The kernel queues an event before the call that causes it returns, and the
 * queue is read on demand: `read` is complete at that moment, unlike `fs.watch`, which tells some time later. Linux only.
 */
export class DirectoryWatch implements Disposable {
  private events: DirectoryEvent[] | undefined = [];
  // The kernel reports no mount on a directory, which shows another directory in its place.
  private mounts: string | undefined;

  private constructor(
    private readonly queue: EventQueue,
    private readonly readMounts: () => string | undefined,
  ) {
    this.mounts = readMounts();
  }

  /** Undefined where directories cannot be watched. @param readMounts changes with each mount on this machine. */
  static open(readMounts = readOwnMounts): DirectoryWatch | undefined {
    shared ??= EventQueue.open();
    if (shared === undefined) return undefined;
    const watch = new DirectoryWatch(shared, readMounts);
    shared.users.add(watch);
    return watch;
  }

  /**
   * Watches a directory from now on. The number is the same for the same directory, under whatever path it is added.
   * @param device that it lies on, as text.
   * @returns undefined where it cannot be watched.
   */
  add(path: string, device: string): number | undefined {
    return this.queue.add(path, device, this);
  }

  remove(watch: number): void {
    this.queue.remove(watch, this);
  }

  /** The events since the last call; undefined if there were more than are kept, or if something was mounted. */
  read(): readonly DirectoryEvent[] | undefined {
    this.queue.read();
    const { events } = this;
    this.events = [];
    const mounts = this.readMounts();
    const isMountedAlike = mounts !== undefined && mounts === this.mounts;
    this.mounts = mounts;
    return isMountedAlike ? events : undefined;
  }

  /** Called by the queue. @param event undefined if events were lost. */
  take(event: DirectoryEvent | undefined): void {
    if (event === undefined || (this.events?.length ?? 0) >= MAX_EVENTS) this.events = undefined;
    this.events?.push(...(event ? [event] : []));
  }

  [Symbol.dispose](): void {
    this.queue.leave(this);
    if (this.queue.users.size === 0 && shared === this.queue) shared = undefined;
  }
}

/** One for the whole process: a user may have few, for all programs. */
let shared: EventQueue | undefined;

class EventQueue {
  readonly users = new Set<DirectoryWatch>();
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private readonly maxWatches = readMaxWatches();
  private readonly watches = new Map<number, Set<DirectoryWatch>>();
  private readonly fileSystems = new Map<string, boolean>();

  private constructor(
    private readonly calls: WatchCalls,
    private readonly descriptor: number,
  ) {}

  static open(): EventQueue | undefined {
    calls ??= loadCalls();
    const descriptor = calls?.inotify_init1(NONBLOCKING_AND_PRIVATE) ?? -1;
    return calls && descriptor >= 0 ? new EventQueue(calls, descriptor) : undefined;
  }

  add(path: string, device: string, user: DirectoryWatch): number | undefined {
    if (this.watches.size >= this.maxWatches || !this.isNoticed(path, device)) return undefined;
    const bytes = toSystemPath(path);
    const name =
      typeof bytes === "string" ? Buffer.from(`${bytes}\0`) : Buffer.concat([bytes, Buffer.of(NUL)]);
    const watch = this.calls.inotify_add_watch(this.descriptor, name, WANTED);
    if (watch < 0) return undefined;
    const users = this.watches.get(watch) ?? new Set();
    this.watches.set(watch, users.add(user));
    return watch;
  }

  remove(watch: number, user: DirectoryWatch): void {
    const users = this.watches.get(watch);
    users?.delete(user);
    if (users?.size !== 0) return;
    this.watches.delete(watch);
    this.calls.inotify_rm_watch(this.descriptor, watch);
  }

  leave(user: DirectoryWatch): void {
    if (!this.users.delete(user)) return;
    for (const watch of [...this.watches.keys()]) this.remove(watch, user);
    if (this.users.size === 0) closeSync(this.descriptor);
  }

  read(): void {
    if (this.users.size === 0) return;
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const size = Number(this.calls.read(this.descriptor, this.buffer, BUFFER_BYTES));
      if (size <= 0) return;
      this.hand(size);
    }
    // A process can cause events faster than they can be read.
    for (const user of this.users) user.take(undefined);
  }

  private hand(size: number): void {
    const view = new DataView(this.buffer.buffer, 0, size);
    for (let at = 0; at + HEADER_BYTES <= size; ) {
      const watch = view.getInt32(at, true);
      const mask = view.getUint32(at + 4, true);
      const length = view.getUint32(at + 12, true);
      const start = at + HEADER_BYTES;
      at = start + length;
      const isLost = (mask & QUEUE_OVERFLOW) !== 0;
      const name = length === 0 ? undefined : this.readName(start, at);
      const event = isLost ? undefined : { watch, name, isDirectory: (mask & IS_DIRECTORY) !== 0 };
      for (const user of (isLost ? this.users : this.watches.get(watch)) ?? []) user.take(event);
    }
  }

  private readName(start: number, end: number): string {
    const bytes = Buffer.from(this.buffer.buffer, start, end - start);
    const length = bytes.indexOf(NUL);
    return fromNameBytes(Buffer.from(bytes.subarray(0, length < 0 ? bytes.length : length)));
  }

  private isNoticed(path: string, device: string): boolean {
    const known = this.fileSystems.get(device);
    if (known !== undefined) return known;
    const isNoticed = isNoticedFileSystem(path);
    this.fileSystems.set(device, isNoticed);
    return isNoticed;
  }
}

function isNoticedFileSystem(path: string): boolean {
  try {
    return NOTICED.has(Number(statfsSync(toSystemPath(path)).type) >>> 0);
  } catch {
    return false; // Removed in the meantime.
  }
}

function readOwnMounts(): string | undefined {
  try {
    return readFileSync("/proc/self/mountinfo", "latin1");
  } catch {
    return undefined;
  }
}

function readMaxWatches(): number {
  try {
    const limit = Number(readFileSync("/proc/sys/fs/inotify/max_user_watches", "latin1"));
    return Math.max(Math.floor(limit / SHARE_OF_WATCHES), Math.min(limit, FEW_WATCHES)) || 0;
  } catch {
    return FEW_WATCHES;
  }
}

/** Null if no C library can be called. */
let calls: WatchCalls | null | undefined;

function loadCalls(): WatchCalls | null {
  if (platformName() !== "linux") return null;
  for (const library of libcNames()) {
    try {
      return dlopen(library, {
        inotify_init1: { args: ["i32"], returns: "i32" },
        inotify_add_watch: { args: ["i32", "ptr", "u32"], returns: "i32" },
        inotify_rm_watch: { args: ["i32", "i32"], returns: "i32" },
        read: { args: ["i32", "ptr", "u64"], returns: "i64" },
      }).symbols;
    } catch {
      // Not this library; the next one.
    }
  }
  return null;
}
