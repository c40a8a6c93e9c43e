import type { z } from "zod";
import type { Tool } from "../tool/types.ts";
import { withoutArguments } from "./file-tools.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import type { JobToolOptions } from "./job-tools.ts";
import { loadParameters } from "./load-parameters.ts";
import type { BashParameters } from "./parameters.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, validated by `bashParameters`. */
export type BashArguments = z.output<BashParameters>;

/** What the model is told of the tool for commands; the other arguments are taken all the same. */
export interface BashToolOptions extends JobToolOptions {
  /** False where no command runs outside a sandbox on request: because commands are not sandboxed, or a sandbox is required. */
  offersOutside?: boolean;
  /** False where no command may outlive the session. */
  offersDetach?: boolean;
  /** False where each command has a localhost of its own. */
  sharesLocalhost?: boolean;
}

/** Runs shell commands, each from the working directory, with no terminal, an empty stdin and no keys. */
export function createBashTool(workspace: Workspace, options: BashToolOptions = {}): Tool<BashParameters> {
  const { offersJobs = workspace.jobs !== undefined, offersOutside = true, offersDetach = true } = options;
  const hidden = [
    ...(offersJobs ? [] : JOB_ARGUMENTS),
    ...(offersDetach ? [] : ["detach"]),
    ...(offersOutside ? [] : ["outside_sandbox", "reason"]),
  ];
  return {
    name: "bash",
    description:
      "Runs a shell command. Every call starts in the working directory, with an empty stdin and no terminal. " +
      `Long output is cut in the middle and kept whole in a file. ${offersJobs ? describeJobs(options) : WITHOUT_JOBS}`,
    get parameters() {
      return loadParameters().bashParameters;
    },
    inputSchema: withoutArguments(INPUT_SCHEMAS.bash, hidden),
    approval(args) {
      const detach = args.detach === true;
      const isOutside = workspace.sandboxState !== undefined && (detach || args.outside_sandbox === true);
      const reason = isOutside ? quoteReason(args.reason) : undefined;
      const line = args.command.trim().replace(/\s*\n\s*/g, " ↵ ");
      const how = `${detach ? " beyond the end of the session" : ""}${isOutside ? " outside the sandbox" : ""}`;
      return {
        permission: "execute",
        toolName: "bash",
        description: `bash${how}: ${line}`,
        details: {
          command: args.command,
          ...(isOutside && { outsideSandbox: true, ...(reason && { reason }) }),
          ...(detach && { detach }),
        },
      };
    },
    // A loop that only polls has a pause in it.
    waits: ({ command }) => typeof command === "string" && /(^|[\s;&|(])(sleep|wait)\b/.test(command),
    async execute(args, context) {
      if (context.isTried) {
        if (workspace.tryCommand) return workspace.tryCommand(args, context);
        throw new Error("Not run: this session cannot try a command first.");
      }
      // Loaded with the first command: the tool can be described to a model without it.
      const [{ runShell }, { recordPrintedFiles }] = await Promise.all([
        import("./shell/run-shell.ts"),
        import("./shell/printed-files.ts"),
      ]);
      const result = await runShell(args, workspace, context);
      recordPrintedFiles(workspace, args.command, result.output);
      return result;
    },
  };
}

function describeJobs({ sharesLocalhost = true }: BashToolOptions): string {
  return (
    "Output and exit code always come back: no `| tail`, no `echo $?`. " +
    'At its time limit a command is killed, or moved to the background with on_timeout "background". Start servers and ' +
    `watchers with background: true; ${sharesLocalhost ? "later calls reach them, " : ""}job_output shows what they print, ` +
    "and they live until the session ends."
  );
}

const JOB_ARGUMENTS = ["background", "on_timeout", "detach"];
const WITHOUT_JOBS = "Start servers and watchers with `&`; they live until the session ends.";

// A few terminal rows: the model's stated reason must not displace the command itself.
const MAX_SHOWN_CHARS = 500;

/**
 * Formats a model's stated reason so that it cannot be mistaken for anything else where it is shown or logged: in
 * quotation marks that it cannot close, on one line, invisible characters as escapes such as `\u{202e}`, a longer
 * one truncated with the number of omitted characters. Undefined if the reason is empty.
 */
export function quoteReason(reason: string | undefined): string | undefined {
  // Never examine more than could be shown: the reason may be megabytes long.
  const head = (reason ?? "").slice(0, MAX_SHOWN_CHARS * 4).trimStart();
  let shown = "";
  let taken = 0;
  for (const { 0: text } of head.matchAll(PIECES)) {
    const piece = toShown(text);
    if (shown.length + piece.length > MAX_SHOWN_CHARS) break;
    shown += piece;
    taken += text.length;
  }
  if (shown.trim() === "") return undefined;
  const left = (reason ?? "").trim().length - taken;
  return left > 0 ? `“${shown}…” (${left} more characters)` : `“${shown.trimEnd()}”`;
}

/** A run of blanks and line ends, or a character. */
const PIECES = /\s+|\S/gu;

/** Characters that open or close a quotation in some language, or look like it. */
const QUOTES = /["\u00ab\u00bb\u02ba\u02dd\u02ee\u201c-\u201f\u2033\u2036\u275d\u275e\u301d-\u301f\uff02]/u;

/**
 * Invisible characters, characters that move visible ones or begin a control sequence, and spaces that no keyboard
 * types.
 */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;

function toShown(piece: string): string {
  if (/^\s+$/u.test(piece)) return " ";
  if (QUOTES.test(piece)) return "'";
  return UNSEEN.test(piece) ? `\\u{${piece.codePointAt(0)?.toString(16)}}` : piece;
}
