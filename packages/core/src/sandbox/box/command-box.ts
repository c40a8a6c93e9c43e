import type {
  CommandReturn,
  EnclosedCommand,
  ShellBox,
  ShellCommand,
} from "../../infrastructure/processes/shell-box.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { ControlJournal } from "../control/control-journal.ts";
import { ControlKeeper } from "../control/control-keeper.ts";
import type { ControlLook } from "../control/control-look.ts";
import { findLinkedRepository } from "../control/git-places.ts";
import { isAdministrator, type SandboxProgram } from "../find-sandbox.ts";
import { packArguments } from "./arguments-file.ts";
import { toBoxEnvironment } from "./box-environment.ts";
import { type BoxPlaces, planPlaces } from "./box-places.ts";
import { toBubblewrapArguments } from "./bubblewrap.ts";
import { explainCheckout, explainSettings, isHalfCheckout } from "./explain-checkout.ts";
import { explainOutput } from "./explain-output.ts";
import { preparePrivateTemporary } from "./private-temporary.ts";
import { toSeatbeltArguments, toSeatbeltProfile } from "./seatbelt.ts";
import { findShownDirectories } from "./shown-directories.ts";
import { findSockets } from "./sockets.ts";
import { toStayingShell } from "./staying-shell.ts";

export interface CommandBoxOptions {
  program: SandboxProgram;
  /** The project, absolute and real. */
  root: string;
  /** Further directories that may be written to; absolute and real. */
  writable: readonly string[];
  /** The session's private temporary directory, real; undefined where there is none. */
  directory(): string | undefined;
  /** Where control files that appear are moved to. */
  quarantine: string;
  /** Where a later session finds what was there, should this one be killed; undefined where nothing can be kept. */
  journalDirectory: string | undefined;
  /** What commands may not read: absolute paths, there or not. Asked for with every command. */
  findSecrets(): readonly string[];
  /** Home directories in which there are such places; absolute. */
  homes: readonly string[];
  /** Hidden whole, since sockets lie in them. */
  runtimeDirectories: readonly string[];
  sharedTemporary: readonly string[];
  /** What bubblewrap can do here beside the box itself. */
  hardening: Hardening;
  /** False where no command may ask to run outside. */
  mayLeave: boolean;
  /** Tells the user, in a sentence, what was taken away. */
  tell?: ((message: string) => void) | undefined;
}

export interface Hardening {
  /** False where it cannot take the right to make namespaces away. */
  forbidsNamespaces: boolean;
  /** False where the kernel takes no filter for system calls. */
  filtersCalls: boolean;
}

// Of the files that it inherits; see `ProcessOptions`.
const FIRST_DESCRIPTOR = 4;

// As it ends when it cannot make one of the places.
const BUBBLEWRAP_FAILURE = /^bwrap: Can't .+$/;

/** The box of one session: each command gets one of its own, made from what there is when it starts. */
export class CommandBox implements ShellBox {
  private readonly roots: readonly string[];
  private readonly linkedGitDirectories: readonly string[];
  private readonly keeper: ControlKeeper;

  constructor(private readonly options: CommandBoxOptions) {
    const { root, writable, quarantine, journalDirectory, tell } = options;
    const isHeld = (path: string) =>
      [root, ...writable].some((other) => other !== path && isInside(path, other));
    this.roots = [root, ...new Set(writable.filter((path) => path !== root && !isHeld(path)))];
    const linked = findLinkedRepository(root);
    this.linkedGitDirectories = linked ? [...new Set([linked.commonDirectory, linked.gitDirectory])] : [];
    const places = { roots: this.roots, gitDirectories: this.linkedGitDirectories };
    const journal = journalDirectory === undefined ? undefined : new ControlJournal(journalDirectory, places);
    this.keeper = new ControlKeeper({ ...places, quarantine, tell, journal });
  }

  enclose(command: ShellCommand): EnclosedCommand {
    const before = this.keeper.begin(command.writtenFiles ?? (() => []));
    try {
      return this.toEnclosed(command, before);
    } catch (error) {
      this.keeper.abandon();
      throw error;
    }
  }

  /** For a command that does nothing: nothing is kept, and `finish` need not be called. @throws as `enclose` does. */
  encloseTrial(command: ShellCommand): EnclosedCommand {
    return this.toEnclosed(command, this.keeper.glance());
  }

  private toEnclosed(command: ShellCommand, before: ControlLook): EnclosedCommand {
    const { temporary, ...start } = this.findStart(command, before);
    const { mayLeave } = this.options;
    const line = command.argv.at(-1) ?? "";
    return {
      ...start,
      environment: toBoxEnvironment(command.environment, temporary),
      isFailure: (output) => BUBBLEWRAP_FAILURE.test(output),
      explain: (output, hasFailed = true) => {
        if (isHalfCheckout(output, line)) return explainCheckout({ command: line, mayLeave });
        return hasFailed ? explainOutput(output, { mayLeave, temporary }) : explainSettings(output);
      },
      abandon: () => this.keeper.abandon(),
      finish: (end) => {
        const notes = this.keeper.finish(this.findEnd(end));
        const meaning = notes.length > 0 ? explainCheckout({ command: line, mayLeave }) : undefined;
        return { notes: meaning === undefined ? notes : [...notes, meaning] };
      },
    };
  }

  /** How a command is started, and where its temporary files go. */
  private findStart(command: ShellCommand, look: ControlLook) {
    const { program, findSecrets, homes, sharedTemporary, runtimeDirectories } = this.options;
    const directory = this.options.directory();
    const temporary = directory === undefined ? undefined : preparePrivateTemporary(directory);
    const sockets = findSockets([...runtimeDirectories, ...sharedTemporary]);
    const isBubblewrap = program.kind === "bubblewrap";
    const places = planPlaces({
      roots: this.roots,
      linkedGitDirectories: this.linkedGitDirectories,
      look,
      secrets: [...findSecrets(), ...sockets],
      homes: isBubblewrap ? homes : [],
      sharedTemporary,
      temporary,
      settledGitDirectories: this.keeper.settledGitDirectories,
    });
    const start = isBubblewrap
      ? this.toBubblewrap(command, places)
      : { argv: this.toSeatbelt(command, places), inheritedFiles: [] };
    return { ...start, reportsEnd: isBubblewrap, temporary };
  }

  /**
   * When nothing of a command runs any more. Bubblewrap stays as long as something does, whatever the command says of
   * itself; where nothing stays, what is left in the background is there until the end.
   */
  private findEnd({ survivors, gone }: CommandReturn): Promise<unknown> {
    if (this.options.program.kind === "bubblewrap") return gone;
    return survivors ? new Promise(() => {}) : Promise.resolve();
  }

  leave(): () => string[] {
    this.keeper.inspect();
    return () => this.keeper.accept();
  }

  /** To be called when nothing runs any more: takes away what was left by what ran in the background. */
  async close(): Promise<void> {
    await this.keeper.close();
  }

  private toBubblewrap({ argv, cwd, environment }: ShellCommand, places: BoxPlaces) {
    const { program, runtimeDirectories, sharedTemporary, hardening } = this.options;
    const { temporary } = places;
    const filter = hardening.filtersCalls ? temporary?.filterFile : undefined;
    const filters = filter === undefined ? [] : [filter];
    const own = toBubblewrapArguments({
      places,
      runtimeDirectories,
      shownDirectories: findShownDirectories(environment.PATH, [...runtimeDirectories, ...sharedTemporary]),
      sharedTemporary,
      forbidsNamespaces: hardening.forbidsNamespaces,
      isFiltered: filter !== undefined,
      isAdministrator: isAdministrator(),
      cwd,
    });
    const descriptor = FIRST_DESCRIPTOR + filters.length;
    const packed = packArguments(own, { directory: temporary?.directory, descriptor });
    return {
      argv: [program.path, ...packed.argv, "--", ...toStayingShell(argv)],
      inheritedFiles: [...filters, ...(packed.file === undefined ? [] : [packed.file])],
    };
  }

  private toSeatbelt({ argv }: ShellCommand, places: BoxPlaces): string[] {
    return toSeatbeltArguments(this.options.program.path, toSeatbeltProfile(places), argv);
  }
}
