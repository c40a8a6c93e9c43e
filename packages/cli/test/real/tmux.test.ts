import { expect } from "bun:test";
import { join } from "node:path";
import { testUnless } from "../../../core/test/support/test-unless.ts";
import { bareEnvironment, PROGRAM } from "../support/run-diligent.ts";
import { savedMessages, sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const obstacle = Bun.which("tmux") === null ? "tmux is not installed" : undefined;

// What a program can leave behind in a terminal, in tmux's names.
const TERMINAL_STATE =
  "#{alternate_on} #{insert_flag} #{keypad_cursor_flag} #{keypad_flag} #{mouse_any_flag} #{cursor_flag} #{wrap_flag}";
const PATIENCE_MS = 20_000;

/** A shell in a separate tmux, which is killed when it is disposed of. */
class TmuxShell implements Disposable {
  private readonly socket: string;
  private readonly environment: Record<string, string>;

  constructor(place: TemporaryProject, columns: number) {
    this.socket = join(place.top, "tmux");
    this.environment = { ...bareEnvironment(place), TERM: "xterm-256color" };
    const size = ["-x", String(columns), "-y", "24"];
    this.tmux(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      ...size,
      "-c",
      place.project,
      "PS1='ready> ' exec bash --norc --noprofile",
    );
  }

  tmux(...args: readonly string[]): string {
    const argv = ["tmux", "-S", this.socket, ...args];
    const { stdout, stderr, success } = Bun.spawnSync(argv, { env: this.environment });
    if (!success) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout.toString();
  }

  /** Types a text in one burst, and Enter. */
  enter(text: string): void {
    this.tmux("send-keys", "-l", text);
    this.tmux("send-keys", "Enter");
  }

  screen(): string {
    return this.tmux("capture-pane", "-p", "-J", "-S", "-");
  }

  /** The line discipline and the modes of the terminal. */
  async state(name: string): Promise<string> {
    this.enter(`stty -a > ../${name}; echo kept as ${name}`);
    await this.shows(new RegExp(`^kept as ${name}`, "m"));
    await this.shows(/ready>\s*$/);
    return this.tmux("display-message", "-p", TERMINAL_STATE);
  }

  async shows(text: string | RegExp): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const screen = this.screen();
      if (typeof text === "string" ? screen.includes(text) : text.test(screen)) return;
      if (performance.now() > deadline) throw new Error(`${text} is not shown:\n${screen}`);
      await Bun.sleep(20);
    }
  }

  [Symbol.dispose](): void {
    Bun.spawnSync(["tmux", "-S", this.socket, "kill-server"]);
  }
}

for (const columns of [40, 80, 200]) {
  testUnless(obstacle)(
    `in a tmux of ${columns} columns a prompt is answered and saved, and the terminal is restored`,
    async () => {
      const place = createTemporaryProject();
      try {
        place.write("script.json", { version: 1, turns: [{ text: "The answer is 42." }] });
        using shell = new TmuxShell(place, columns);
        await shell.shows("ready>");
        const before = await shell.state("before");
        shell.enter(`${PROGRAM} -m scripted/script.json; echo "exit code $?"`);
        await shell.shows(/^(?:scripted\/)?script\.json · /m);
        shell.enter("What is the answer?");
        await shell.shows("The answer is 42.");
        shell.enter("/quit");
        await shell.shows(/^exit code 0/m);

        expect(await shell.state("after")).toBe(before);
        const [stateBefore, stateAfter] = await Promise.all(
          ["before", "after"].map((name) => Bun.file(join(place.top, name)).text()),
        );
        expect(stateAfter).toBe(stateBefore ?? "");
        // The conversation stays in the scrollback.
        expect(shell.screen()).toMatch(/What is the answer\?[\s\S]*The answer is 42\.[\s\S]*exit code 0/);
        const [id = ""] = sessionIds(place);
        expect(savedMessages(place, id).map(({ role }) => role)).toEqual(["user", "assistant"]);
      } finally {
        place.remove();
      }
    },
    PATIENCE_MS * 4,
  );
}
