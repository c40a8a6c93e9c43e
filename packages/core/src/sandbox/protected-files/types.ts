import type { LocatedDirectory } from "../../infrastructure/fs/listing-restorer.ts";
import type { SeenFile } from "../../infrastructure/fs/seen-file.ts";

/** Why a path is protected. */
export interface Reason {
  /**
   * True where its own name and location do that, or links, settings and repositories that have not changed since the scan
   * before. Of what is protected only by something new, that is what has to go.
   */
  isEstablished: boolean;
  /** True where its own name and location do, and not only links or settings that lead to it. */
  isByName: boolean;
}

/** A row of the table of marks: an existing file or directory that commands may not create, replace or change. */
export interface ProtectedFile extends SeenFile, Reason {}

/** A directory with entries that make a repository without a working tree, all of these or some. */
export interface RepositorySigns extends LocatedDirectory {
  /** The names of these entries. */
  names: readonly string[];
  isRepository: boolean;
}

/** A snapshot of the protected files. */
export interface ProtectedFileScan {
  /** The table of marks, by absolute path. */
  files: ReadonlyMap<string, ProtectedFile>;
  /** Commands may write to these but for the protected files in them; parents before their contents. */
  gitDirectories: readonly string[];
  /** What git's settings name, there or not. */
  named: ReadonlySet<string>;
  /** By identity. */
  signs: ReadonlyMap<string, RepositorySigns>;
  /** The identity of each scanned directory by its path; empty where that is no longer known. */
  directories: ReadonlyMap<string, string>;
  /** Directories that are skipped. */
  skipped: readonly string[];
  /** Directories that may not be listed, by identity. */
  unlistable: ReadonlyMap<string, LocatedDirectory>;
  /** Of the directories where commands may write, those that hold too much to be scanned whole. */
  shallowRoots: readonly string[];
  /** False where there are more directories than can be scanned for every command. */
  isWalked: boolean;
  /** False where that is so, or git directories hold and name more than that. */
  isComplete: boolean;
}
