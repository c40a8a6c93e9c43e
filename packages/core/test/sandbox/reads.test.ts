import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { appendInputHistory } from "../../src/infrastructure/fs/input-history.ts";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { giveToPlainUser } from "../support/plain-user.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const NONCE = "nonce-5b1e7a";

const SECRETS: readonly string[] = [
  "home/.ssh/id_ed25519",
  "home/.ssh/config",
  "home/.aws/credentials",
  "home/.config/gcloud/credentials.db",
  "home/.config/gh/hosts.yml",
  "home/.docker/config.json",
  "home/.kube/config",
  "home/.gnupg/private-keys-v1.d/key",
  "home/.netrc",
  "home/.npmrc",
  "home/.git-credentials",
  "home/.bash_history",
  "home/.local/share/keyrings/login.keyring",
  "home/.mozilla/firefox/x/logins.json",
  "home/.config/diligent/diligent.jsonc",
  "home/.local/state/diligent/grants.json",
  "home/.local/state/diligent/requests/x.jsonl",
  "neighbour/.diligent/sessions/x.jsonl",
  "neighbour/.diligent/knowledge/knowledge.jsonl",
  "far/away/.diligent/sessions/x.jsonl",
];

/** A home directory and projects beside this one with a nonce in every file that is nobody's business. */
function makePlanted() {
  return makeBoxedProject({
    prepare({ top, home }) {
      for (const path of SECRETS) {
        mkdirSync(join(top, path, ".."), { recursive: true });
        Bun.spawnSync(["sh", "-c", `echo ${NONCE} > "$1"`, "sh", join(top, path)]);
      }
      appendInputHistory({ HOME: home }, { cwd: join(top, "far", "away"), text: "hello" });
    },
  });
}

describe.skipIf(problem !== undefined)("a sandboxed command finds nothing", () => {
  const ATTEMPTS: readonly string[] = [
    "cat $FILES",
    "for f in $FILES; do cat /proc/self/root$f; done",
    "cp $FILES .; cat $(basename -a $FILES)",
    "ln $FILES . ; cat $(basename -a $FILES)",
    "for f in $FILES; do ln -s $f l; cat l; rm l; done",
    "tar -cf - $FILES | strings",
    "cd $HOME && cat .ssh/* .aws/* .config/*/*",
    "mv $HOME/.ssh x; rmdir $HOME/.ssh; umount -l $HOME/.ssh; cat $HOME/.ssh/*",
  ];
  test("of keys, credentials, diligent's files and other projects' sessions", async () => {
    const place = await makePlanted();
    const files = SECRETS.map((path) => place.at(path)).join(" ");
    for (const attempt of ATTEMPTS) {
      const { output } = await place.run(`FILES="${files}"; ${attempt}`);
      expect([attempt, output.includes(NONCE)]).toEqual([attempt, false]);
    }
    const { output } = await place.run(`grep -rs ${NONCE} ~ ../neighbour ../far | wc -l`);
    expect(output).toBe("0");
  });

  test("if they are links to another place", async () => {
    const place = await makeBoxedProject({
      prepare({ top, home }) {
        mkdirSync(join(top, "dotfiles", "ssh"), { recursive: true });
        Bun.spawnSync([
          "sh",
          "-c",
          `echo ${NONCE} > ${top}/dotfiles/ssh/key; echo ${NONCE} > ${top}/dotfiles/rc`,
        ]);
        symlinkSync("../dotfiles/ssh", join(home, ".ssh"));
        symlinkSync("../dotfiles/rc", join(home, ".npmrc"));
      },
    });
    expect(
      (await place.run("cat ~/.ssh/key ~/.npmrc ../dotfiles/ssh/key ../dotfiles/rc")).output,
    ).not.toContain(NONCE);
  });

  test("of what is put into a home directory after the first command, or while one runs", async () => {
    const place = await makeBoxedProject();
    place.put("home/.netrc", "before\n");
    expect((await place.run("cat ~/.netrc ~/.aws/credentials")).output).not.toContain("before");
    const late = ["home/.aws/credentials", "home/.netrc", "home/.config/gh/hosts.yml", "home/.npmrc"];
    for (const path of late.slice(0, 3)) place.put(path, NONCE);
    const running = place.run("sleep 0.4; cat ~/.netrc ~/.npmrc ~/.aws/* ~/.config/gh/*; ls -A ~");
    await Bun.sleep(150);
    for (const path of late.slice(1)) {
      if (!path.includes("config")) renameSync(place.put(`${path}.new`, NONCE), place.at(path));
    }
    const { output } = await running;
    expect(output).not.toContain(NONCE);
    expect(output).toContain(".config\n.gitconfig");
  });

  test("of browsers, editors and tools, wherever settings are stored", async () => {
    const places = [
      ...["home/.var/app/org.x/k", "home/snap/firefox/k", "home/.librewolf/k", "home/.databrickscfg"],
      ...["home/.config/vivaldi/k", "home/.config/Code/k", "home/.yarnrc.yml", "home/.Xauthority"],
      ...["home/xc/gh/hosts.yml", "home/xc/Code/k", "home/xc/configstore/k", "home/xc/pypoetry/auth.toml"],
      ...["home/.pulumi/credentials.json", "home/.cache/huggingface/token", "home/.mysql_history"],
      ...["home/.config/stripe/config.toml", "home/.local/share/fish/fish_history"],
    ];
    const place = await makeBoxedProject({ environment: { XDG_CONFIG_HOME: "/nowhere" } });
    for (const path of places) place.put(path, NONCE);
    expect((await place.run(`grep -rs ${NONCE} ~/.[a-zA-Z]* ~/snap | wc -l`)).output).toBe("0");
    const named = await makeBoxedProject({ environment: { XDG_CONFIG_HOME: place.at("home/xc") } });
    const { output } = await named.run(`cat ${place.at("home/xc")}/*/*; echo read`);
    expect(output).not.toContain(NONCE);
    expect(output).toContain("read");
  });

  test("of a home directory, whether it is rebuilt or has too many entries for that", async () => {
    for (const count of [2, 150]) {
      const place = await makeBoxedProject();
      for (let index = 0; index < count; index++) place.put(`home/file-${index}`);
      place.put("home/.netrc", NONCE);
      symlinkSync("file-1", place.at("home/link"));
      const { output } = await place.run("cat ~/.netrc; cat ~/link; ls ~ | wc -l; touch ~/canary");
      expect(output).not.toContain(NONCE);
      expect(output).toContain(`original\n${count + 1}\n`);
      expect(output).toContain("Read-only file system");
    }
  });

  test("to write to in a pipe that is in the home directory", async () => {
    const place = await makeBoxedProject();
    Bun.spawnSync(["mkfifo", place.at("home/pipe")]);
    const reader = Bun.spawn(["timeout", "1", "cat", place.at("home/pipe")], { stdout: "pipe" });
    await place.run("timeout 1 sh -c 'echo x > ~/pipe'");
    reader.kill();
    expect(await new Response(reader.stdout).text()).toBe("");
  });

  test("of what only an administrator may read", async () => {
    const place = await makeBoxedProject();
    const { output } = await place.run("cat /etc/shadow /etc/ssh/ssh_host_*_key | wc -c");
    expect(output).toEndWith("0");
  });

  test("but everything else, such as programs and settings, unchanged", async () => {
    const place = await makePlanted();
    place.put("home/.gitignore", "*.log\n");
    place.put("neighbour/lib.ts", "export {};\n");
    place.put("project/.env.example", "PORT=1\n");
    const { output } = await place.run(
      "cat ~/.gitignore ../neighbour/lib.ts .env.example; git config user.name",
    );
    expect(output).toBe("*.log\nexport {};\nPORT=1\nMe");
  });

  test("of the project's .env files, however they are reached, which is explained", async () => {
    const place = await makeBoxedProject();
    for (const name of [".env", "app/.env.local"]) place.put(`project/${name}`, `KEY=${NONCE}\n`);
    const { output } = await place.run(
      "cat .env; cat < app/.env.local; cp .env copy; ln .env link; ln -s .env soft; cat copy link soft; " +
        "chmod 644 .env; mv app moved; cat moved/.env.local; dd if=.env; tar c . | grep -a KEY; cat .env",
    );
    expect(output).not.toContain(NONCE);
    expect(output).toContain("cat: .env: Permission denied");
    expect(output).toContain("which may hold keys or passwords");
    const next = await place.run("cat moved/.env.local; cat moved/.env.local");
    expect(next.output).not.toContain(NONCE);
  });

  test("of the project's keys and credentials that existed when the session began", async () => {
    const names = ["server.key", "certs/tls.pem", ".npmrc", "credentials.json", "deploy/id_rsa"];
    const place = await makeBoxedProject({
      prepare({ root }) {
        for (const name of names) {
          mkdirSync(join(root, dirname(name)), { recursive: true });
          writeFileSync(join(root, name), `-----BEGIN PRIVATE KEY-----\n${NONCE}\n`);
        }
        writeFileSync(join(root, "certs/ca.pem"), "-----BEGIN CERTIFICATE-----\npublic\n");
      },
    });
    const { output } = await place.run(
      `cat ${names.join(" ")}; cp server.key copy; mv certs moved; cat certs/ca.pem moved/ca.pem`,
    );
    expect(output).not.toContain(NONCE);
    expect(output).toContain("cat: server.key: Permission denied");
    expect(output).toContain("no command in it can read");
    expect(output).toContain("public");
    expect((await place.run("cat moved/tls.pem; cat copy")).output).not.toContain(NONCE);
  });

  test("but a key that a command or a tool created in the session", async () => {
    const place = await makeBoxedProject();
    place.put("project/written.key", "written in the session\n");
    const { output } = await place.run("echo made > made.pem; cat made.pem written.key");
    expect(output).toContain("made\nwritten in the session");
    const again = await place.run("cat made.pem; echo anew > made.pem; cat made.pem; rm made.pem");
    expect(again.output).toContain("made\nanew");
    expect(again.isError).toBe(false);
  });

  test("but a key that is committed", async () => {
    const place = await makeBoxedProject({
      prepare({ root, home }) {
        writeFileSync(join(root, "test.key"), "for tests\n");
        const env = { PATH: process.env.PATH, HOME: home };
        for (const args of [
          ["init", "-q"],
          ["add", "-A"],
        ])
          Bun.spawnSync(["git", ...args], { cwd: root, env });
      },
    });
    expect((await place.run("cat test.key")).output).toContain("for tests");
  });

  test("but a .env that is committed, which git add accepts", async () => {
    const place = await makeBoxedProject();
    place.put("project/.env", "PORT=1\n");
    const git = "git -c user.name=Me -c user.email=me@example.test";
    const env = { PATH: process.env.PATH, HOME: place.at("home") };
    const options = { cwd: place.at("project"), env };
    Bun.spawnSync(["sh", "-c", `git init -q; git add -A; ${git} commit -qm first`], options);
    const tracked = await place.run("cat .env; echo a > new.txt; git add -A; git status --porcelain");
    expect(tracked.output).toContain("PORT=1\nA  new.txt");
    place.put("project/.env", `KEY=${NONCE}\n`);
    const planted = "git update-index --cacheinfo 100644,$(git rev-parse HEAD:.env),.env; cat .env";
    for (const line of ["cat .env", planted, "cat .env"])
      expect((await place.run(line)).output).not.toContain(NONCE);
  });
});

const isAdministrator = process.geteuid?.() === 0;

test.skipIf(problem !== undefined || !isAdministrator)(
  "what only an administrator could reach, in another user's directory, is no obstacle and stays out of reach",
  async () => {
    let listener: { stop(): void } | undefined;
    const { run } = await makeBoxedProject({
      prepare({ top, home }) {
        const closed = join(top, "closed");
        mkdirSync(join(closed, "work", ".diligent"), { recursive: true });
        chmodSync(closed, 0o700);
        giveToPlainUser(closed);
        appendInputHistory({ HOME: home }, { cwd: join(closed, "work"), text: "hello" });
        listener = Bun.listen({ unix: join(closed, "server.sock"), socket: { data() {} } });
      },
    });
    const { output } = await run("echo ran; ls ../closed");
    expect(output).toStartWith("ran\nls: cannot open directory '../closed': Permission denied\n");
    listener?.stop();
  },
);
