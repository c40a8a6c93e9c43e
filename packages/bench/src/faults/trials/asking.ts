import { startDiligent } from "../../../../cli/test/support/run-diligent.ts";
import type { PrintedLine } from "../../kill/find-lost.ts";
import { checkChildren } from "../children-left.ts";
import { checkSession } from "../look-after.ts";
import { toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

interface AskingCommand {
  command: string;
  /** The program that it needs; one that every system has when left out. */
  program?: string;
  /** Why it asks nothing here. */
  obstacle?: string | undefined;
}

/** Each would wait for somebody: at its input, at a terminal, in an editor. */
const COMMANDS: readonly AskingCommand[] = [
  { command: "cat" },
  { command: "read -r answer" },
  // As sudo, ssh and passwd ask, whatever their input is.
  { command: "exec 3<>/dev/tty && printf 'Password: ' >&3 && read -r word <&3" },
  { command: 'touch "$TMPDIR/kept"; rm -i "$TMPDIR/kept"' },
  { command: '$EDITOR "$TMPDIR/text"; $VISUAL "$TMPDIR/text"' },
  {
    program: "git",
    command:
      'git init -q "$TMPDIR/g"; cd "$TMPDIR/g"; git -c user.name=a -c user.email=a@b commit --allow-empty',
  },
  { program: "git", command: "printf 'protocol=https\\nhost=example.invalid\\n\\n' | git credential fill" },
  // The passphrase of a key is asked for as the key of an unknown host is.
  {
    program: "ssh-keygen",
    command: 'ssh-keygen -q -t ed25519 -N secret -f "$TMPDIR/key"; ssh-keygen -y -f "$TMPDIR/key"',
  },
  {
    program: "sudo",
    command: "sudo -k true",
    obstacle: process.getuid?.() === 0 ? "it asks nothing of root" : undefined,
  },
  { program: "npm", command: 'mkdir -p "$TMPDIR/n"; cd "$TMPDIR/n"; npm --offline init' },
  { program: "python3", command: "python3 -c 'import getpass; getpass.getpass()'" },
];

/** Where programs are looked for in a trial: that of Bun brings none of these. */
const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A command that waits is ended after this, and has not said then how it ended. */
const COMMAND_LIMIT_MS = 45_000;
const LIMIT_MS = 100_000;

/** Nobody sits in front of a command: whatever asks, ends by itself. */
export const ASKING: FaultTrial = {
  name: "asking",
  about: "commands that ask: at their input, at a terminal, in an editor, with and without a box",
  leftOut: () => COMMANDS.flatMap((each) => obstacleOf(each) ?? []),
  async run(stage) {
    const { place, random, check } = stage;
    const possible = COMMANDS.filter((each) => obstacleOf(each) === undefined);
    if (random() < 0.5) place.configure({ sandbox: "off" });
    const toolCalls = possible.map(({ command }, index) => ({
      id: `asked_${index}`,
      name: "bash",
      input: { command: `(${command}\n); echo "ended ${index}"`, timeout: COMMAND_LIMIT_MS },
    }));
    place.write("script.json", { version: 1, turns: [{ toolCalls }, { text: "Done." }] });
    const options = ["-m", "scripted/script.json", "--approval", "auto", "--output-format", "stream-json"];
    const { stdout } = await startDiligent(place, ["-p", ...options, "Go."], { timeoutMs: LIMIT_MS }).ended;
    const printed = toPrintedLines(stdout);
    for (const [index, { command }] of possible.entries()) {
      const output = outputOf(printed, `asked_${index}`);
      const isEnded = output.includes(`ended ${index}`);
      check("patient", isEnded ? undefined : `${command} did not end by itself: ${output.slice(-300)}`);
    }
    await checkSession(stage, printed);
    await checkChildren(stage);
  },
};

function obstacleOf({ program, obstacle }: AskingCommand): string | undefined {
  if (program === undefined) return undefined;
  const reason = Bun.which(program, { PATH }) === null ? "it is not installed" : obstacle;
  return reason && `${program}, since ${reason}`;
}

function outputOf(printed: readonly PrintedLine[], toolCallId: string): string {
  const end = printed.find((line) => line.type === "tool_end" && line.toolCallId === toolCallId);
  return typeof end?.output === "string" ? end.output : "(no result)";
}
