import { delimiter } from "node:path";
import type {
  CommandReturn,
  EnclosedCommand,
  ShellBox,
  ShellCommand,
} from "../infrastructure/processes/shell-box.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import { toBoxEnvironment } from "./box-environment.ts";
import { type BoxPlaces, planPlaces } from "./box-places.ts";
import { toBubblewrapArguments } from "./bubblewrap.ts";
import { ControlKeeper } from "./control-keeper.ts";
import { explainCheckout, isHalfCheckout } from "./explain-checkout.ts";
import { explainOutput } from "./explain-output.ts";
import { isAdministrator, type SandboxProgram } from "./find-sandbox.ts";
import { findLinkedRepository } from "./git-places.ts";
import { preparePrivateTemporary } from "./private-temporary.ts";
import { toSeatbeltArguments, toSeatbeltProfile } from "./seatbelt.ts";
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

// What NixOS keeps its programs under.
const SHOWN_DIRECTORIES: readonly string[] = [
  "/run/current-system",
  "/run/booted-system",
  "/run/opengl-driver",
];

/** The box of one session: each command gets one of its own, made from what there is when it starts. */
export class CommandBox implements ShellBox {
  private readonly roots: readonly string[];
  private readonly keeper: ControlKeeper;

  constructor(private readonly options: CommandBoxOptions) {
    const { root, writable, quarantine, tell } = options;
    this.roots = [root, ...writable.filter((path) => !isInside(path, root))];
    const linked = findLinkedRepository(root);
    const gitDirectories = linked ? [...new Set([linked.commonDirectory, linked.gitDirectory])] : [];
    this.keeper = new ControlKeeper({ roots: this.roots, gitDirectories, quarantine, tell });
  }

  enclose(command: ShellCommand): EnclosedCommand {
    const before = this.keeper.begin(command.writtenFiles ?? (() => []));
    const { program, mayLeave, findSecrets, homes, sharedTemporary, runtimeDirectories } = this.options;
    const directory = this.options.directory();
    const temporary = directory === undefined ? undefined : preparePrivateTemporary(directory);
    const sockets = findSockets([...runtimeDirectories, ...sharedTemporary]);
    const places = planPlaces({
      roots: this.roots,
      look: before,
      secrets: [...findSecrets(), ...sockets],
      homes: program.kind === "bubblewrap" ? homes : [],
      sharedTemporary,
      temporary,
      settledGitDirectories: this.keeper.settledGitDirectories,
    });
    const line = command.argv.at(-1) ?? "";
    const isBubblewrap = program.kind === "bubblewrap";
    const filter = isBubblewrap && this.options.hardening.filtersCalls ? temporary?.filterFile : undefined;
    return {
      argv: isBubblewrap
        ? this.toBubblewrap(command, places, filter !== undefined)
        : this.toSeatbelt(command, places),
      environment: toBoxEnvironment(command.environment, temporary),
      reportsEnd: isBubblewrap,
      inheritedFiles: filter === undefined ? [] : [filter],
      explain: (output, hasFailed = true) => {
        if (isHalfCheckout(output, line)) return explainCheckout({ command: line, mayLeave });
        return hasFailed ? explainOutput(output, { mayLeave, temporary }) : undefined;
      },
      finish: (end) => {
        const notes = this.keeper.finish(before, this.findEnd(end));
        const meaning = notes.length > 0 ? explainCheckout({ command: line, mayLeave }) : undefined;
        return { notes: meaning === undefined ? notes : [...notes, meaning] };
      },
    };
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

  private toBubblewrap(
    { argv, cwd, environment }: ShellCommand,
    places: BoxPlaces,
    isFiltered: boolean,
  ): string[] {
    const { program, runtimeDirectories, sharedTemporary, hardening } = this.options;
    return toBubblewrapArguments(
      {
        program: program.path,
        places,
        runtimeDirectories,
        shownDirectories: this.findShown(environment.PATH),
        sharedTemporary,
        forbidsNamespaces: hardening.forbidsNamespaces,
        isFiltered,
        isAdministrator: isAdministrator(),
        cwd,
      },
      toStayingShell(argv),
    );
  }

  /** What programs are found in, where that would be hidden. */
  private findShown(path = ""): string[] {
    const { runtimeDirectories, sharedTemporary } = this.options;
    const hidden = [...runtimeDirectories, ...sharedTemporary];
    const isHidden = (place: string) => hidden.some((directory) => place.startsWith(`${directory}/`));
    return [...SHOWN_DIRECTORIES, ...path.split(delimiter)].filter(isHidden);
  }

  private toSeatbelt({ argv }: ShellCommand, places: BoxPlaces): string[] {
    return toSeatbeltArguments(this.options.program.path, toSeatbeltProfile(places), argv);
  }
}
