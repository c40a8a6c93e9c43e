import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { toBoxEnvironment } from "../../src/sandbox/box/bubblewrap.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const WRITE_RULE =
  /\[it ran in a sandbox: only the project and .*\/tmp can be written to, .*call bash again with outside_sandbox/;

describe.skipIf(problem !== undefined)("a sandboxed command", () => {
  test("writes to the project and to temporary directories, which the next command finds", async () => {
    const { run, root, session, text } = await makeBoxedProject();
    const commands = [
      "echo 1 > made && mkdir -p deep/er && echo 2 > deep/er/file",
      "echo 3 > $TMPDIR/kept; echo 4 > /var/tmp/kept-too; mktemp",
      "cat made deep/er/file $TMPDIR/kept /var/tmp/kept-too; pwd",
    ];
    const results = [];
    for (const command of commands) results.push(await run(command));
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(results[1]?.output).toStartWith(join(session, "tmp", "tmp."));
    expect(results[2]?.output).toBe(`1\n2\n3\n4\n${root}`);
    expect([text("project/made"), text("session/tmp/kept")]).toEqual(["1\n", "3\n"]);
  });

  const PLACES = ["$HOME/canary", "../canary", "/etc/canary", "/usr/canary", "/canary", "/opt/canary"];
  for (const place of PLACES) {
    test(`cannot write to ${place}, and is told which rule prevented it`, async () => {
      const { run, top, home } = await makeBoxedProject();
      const { output, isError } = await run(`echo x > ${place}`);
      expect(isError).toBe(true);
      expect(output).toMatch(WRITE_RULE);
      const left = [...readdirSync(top), ...readdirSync(home), ...readdirSync("/"), ...readdirSync("/etc")];
      expect(left.filter((name) => name === "canary")).toEqual([]);
    });
  }

  test("cannot reach a mount, a device or a setting of the system", async () => {
    const { run } = await makeBoxedProject();
    const attempts = [
      "mount -t tmpfs none /mnt",
      "mount -o remount,rw /",
      "umount /dev",
      "mknod disk b 254 0",
      "echo x > /proc/sys/kernel/core_pattern",
      "echo x > /proc/sysrq-trigger",
      "echo 0 > /sys/kernel/mm/ksm/run",
      "unshare --user --map-root-user true",
      "chroot / true",
      "echo x > /proc/self/root/etc/canary",
      "echo x > /proc/1/root/etc/canary",
      "ln /etc/hostname stolen",
      "sysctl -w kernel.hostname=x",
    ];
    for (const attempt of attempts) expect([attempt, (await run(attempt)).isError]).toEqual([attempt, true]);
  });

  test("writes to what the user's configuration names, except protected files in it", async () => {
    const place = await makeBoxedProject({
      prepare: ({ home }) => mkdirSync(join(home, ".cache", "tool"), { recursive: true }),
      writable: ["~/.cache", "~/not-there"],
    });
    place.put("home/.cache/tool/.envrc");
    const { output } = await place.run("echo 1 > ~/.cache/tool/made; echo 2 > ~/.cache/tool/.envrc");
    expect(output).toContain("Read-only file system");
    expect([place.text("home/.cache/tool/made"), place.text("home/.cache/tool/.envrc")]).toEqual([
      "1\n",
      "original\n",
    ]);
  });

  test("gets only listed variables, and its own temporary directory in them", async () => {
    const { run, session } = await makeBoxedProject({
      environment: { XDG_RUNTIME_DIR: "/run/user/0", AWS_ACCESS_KEY_ID: "nonce", TMPDIR: "/tmp" },
    });
    const { output } = await run("env");
    expect(output).toContain(`TMPDIR=${session}/tmp\n`);
    expect(output).not.toMatch(/nonce|XDG_RUNTIME_DIR/);
  });
});

describe.skipIf(problem !== undefined)("a package manager", () => {
  test("is told that there is no network, unless the user's environment sets something else", async () => {
    const { run } = await makeBoxedProject();
    const { output } = await run("echo $npm_config_fetch_retries $PIP_RETRIES $CARGO_NET_OFFLINE $GOPROXY");
    expect(output).toBe("0 1 true off");
    const told = toBoxEnvironment({ GOPROXY: "file:///mirror", XDG_RUNTIME_DIR: "/run/user/0" }, undefined);
    expect(told).toMatchObject({ GOPROXY: "file:///mirror", TMPDIR: "/tmp" });
    expect(told).not.toHaveProperty("XDG_RUNTIME_DIR");
  });

  test("has its caches in the session, and its stores with a network, where it does not run offline", () => {
    const proxy = { https_proxy: "http://127.0.0.1:1" };
    const [offline, online] = [toBoxEnvironment({}, undefined), toBoxEnvironment({}, undefined, proxy)];
    const caches = { npm_config_cache: "/tmp/npm", UV_CACHE_DIR: "/tmp/uv", PIP_CACHE_DIR: "/tmp/pip" };
    const stores = { CARGO_HOME: "/tmp/cargo", GOMODCACHE: "/tmp/go-mod" };
    expect(offline).toMatchObject({ ...caches, CARGO_NET_OFFLINE: "true", GOPROXY: "off" });
    expect(online).toMatchObject({ ...caches, ...stores, ...proxy });
    for (const name of Object.keys(stores)) expect(offline).not.toHaveProperty(name);
    for (const name of ["CARGO_NET_OFFLINE", "GOPROXY", "PIP_RETRIES", "npm_config_fetch_retries"])
      expect(online).not.toHaveProperty(name);
  });

  test("fills its caches in the session, for the next command, too", async () => {
    const { run } = await makeBoxedProject();
    const caches =
      '"$npm_config_cache" "$npm_config_store_dir" "$YARN_GLOBAL_FOLDER" "$PIP_CACHE_DIR" "$UV_CACHE_DIR"';
    await run(`for cache in ${caches}; do mkdir -p "$cache/made"; done`);
    expect((await run(`ls -d ${caches.replaceAll('" ', '/made" ')} | wc -l`)).output).toBe("5");
  });

  test("that fails without a network is explained, also behind a filter", async () => {
    const { run } = await makeBoxedProject();
    const { output } = await run("curl -sS https://a.example 2>&1 | tail -1");
    expect(output).toContain("it ran in a sandbox: there is no network");
    expect(output).toContain('the setting "sandboxNetwork"');
  });
});

describe.skipIf(problem !== undefined)("a project", () => {
  for (const name of [
    "with a space",
    "with\na line end",
    "with'quotes\"",
    "-dash",
    "ünïcode",
    "deep/er/still",
  ]) {
    test(`in a directory called ${JSON.stringify(name)} is writable and nothing beside it`, async () => {
      const { run, text } = await makeBoxedProject({ name });
      await run("echo 1 > made; echo 2 > ../canary");
      expect([text(`${name}/made`), text("canary")]).toEqual(["1\n", undefined]);
    });
  }

  test("that is reached through a link is the link's target", async () => {
    const place = await makeBoxedProject();
    symlinkSync(place.root, place.at("link"));
    await place.run(`echo 1 > ${place.at("link")}/made`);
    expect(place.text("project/made")).toBe("1\n");
  });

  test("with a link that leads out gives no access through it", async () => {
    const place = await makeBoxedProject();
    mkdirSync(place.at("elsewhere"));
    symlinkSync(place.at("elsewhere"), place.at("project/out"));
    expect((await place.run("echo x > out/canary")).isError).toBe(true);
    expect(place.text("elsewhere/canary")).toBeUndefined();
  });

  test("that no longer exists runs nothing", async () => {
    const place = await makeBoxedProject();
    rmSync(place.root, { recursive: true });
    await expect(place.run("echo x")).rejects.toThrow("no longer exists");
  });
});
