import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorReply, startSseServer } from "../../core/test/support/sse-server.ts";
import { compatibleReply, writeUserConfig } from "./support/compatible-service.ts";
import { startInPty } from "./support/pty-program.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { ANTHROPIC_SERVICE, OPENAI_SERVICE, SERVICES, wholeReply } from "./support/vendor-service.ts";

const KEY = "sk-ant-test-0123456789abcdef";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  place.remove();
});

const configPath = () => join(place.home, ".config", "diligent", "diligent.jsonc");
const stored = () => JSON.parse(readFileSync(configPath(), "utf8"));

/** Every file below home and project that contains the key. */
function filesWithKey(): string[] {
  return [place.home, place.project].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .map((name) => join(root, name))
      .filter((path) => statSync(path).isFile() && readFileSync(path, "utf8").includes(KEY)),
  );
}

const pipe = (args: readonly string[], stdin: string, environment: Record<string, string> = {}) =>
  runDiligent(place, ["login", ...args], { stdin, environment });

describe("diligent login NAME with a piped key", () => {
  test.each(SERVICES)(
    "tests it with one small request to the configured endpoint of $name and stores it for its user only",
    async (service) => {
      await using server = await startSseServer(wholeReply(service, { text: "ok" }));
      const environment = { [service.urlVariable]: `${server.url}${service.pathOfBase}` };
      const { stdout, stderr, exitCode } = await pipe([service.name], `${KEY}\n`, environment);
      expect([exitCode, stdout]).toEqual([
        0,
        `The key for ${service.name} works and is stored in ${configPath()} (mode 0600).\n`,
      ]);
      expect(stdout + stderr).not.toContain(KEY);
      expect(stored()).toEqual({ provider: { [service.name]: { apiKey: KEY } } });
      expect((statSync(configPath()).mode & 0o777).toString(8)).toBe("600");
      expect([filesWithKey(), server.problems]).toEqual([[configPath()], []]);
      expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        [service.path, `Bearer ${KEY}`],
      ]);
      const { stdout: answer } = await runDiligent(place, ["-p", "hi"], { environment });
      expect(answer).toBe("ok\n");
    },
  );

  test("writes through a link to its target, keeps the link, and names the target", async () => {
    await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "ok" }));
    const real = join(place.home, "dotfiles", "diligent.jsonc");
    for (const path of [real, configPath()]) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(real, "{ /* mine */ }");
    symlinkSync(real, configPath());
    const { stdout, exitCode } = await pipe(["anthropic"], KEY, { ANTHROPIC_BASE_URL: server.url });
    expect([exitCode, stdout]).toEqual([
      0,
      `The key for anthropic works and is stored in ${real}, to which ${configPath()} leads (mode 0600).\n`,
    ]);
    expect([lstatSync(configPath()).isSymbolicLink(), (statSync(real).mode & 0o777).toString(8)]).toEqual([
      true,
      "600",
    ]);
    expect(readFileSync(real, "utf8")).toContain("/* mine */");
    const removed = await runDiligent(place, ["logout", "anthropic"]);
    expect(removed.stdout).toBe(
      `The key for anthropic was removed from ${real}, to which ${configPath()} leads.\n`,
    );
  });

  test("gives a compatible server its key and keeps the comments of the file", async () => {
    await using server = await startSseServer(compatibleReply({ text: "ok" }));
    writeUserConfig(place, {
      provider: { compatible: { work: { baseUrl: `${server.url}/v1`, models: ["m"] } } },
    });
    expect((await pipe(["work"], KEY)).exitCode).toBe(0);
    expect(server.requests.map(({ headers, body }) => [headers.authorization, body])).toEqual([
      [`Bearer ${KEY}`, expect.objectContaining({ model: "m" })],
    ]);
    expect(stored().provider.compatible.work.apiKey).toBe(KEY);
    expect((await runDiligent(place, ["-p", "hi"])).stdout).toBe("ok\n");
  });

  test("refuses a wrong key with exit code 2 and stores nothing", async () => {
    await using server = await startSseServer(
      errorReply(401, "authentication_error", `invalid x-api-key ${KEY}`),
    );
    const { stdout, stderr, exitCode } = await pipe(["anthropic"], KEY, { ANTHROPIC_BASE_URL: server.url });
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /\ndiligent: 127\.0\.0\.1:\d+ answered 401: authentication_error: invalid x-api-key \[key of anthropic\]\. The key was not stored\.\n$/,
    );
    expect([existsSync(configPath()), filesWithKey(), server.requests.length]).toEqual([false, [], 1]);
  });

  test.each([
    ["nothing", ""],
    ["blanks", "  \n"],
    ["two lines", `${KEY}\nmore\n`],
    ["text that cannot be a key", "schlüssel"],
  ])("refuses %s with exit code 2, without a request", async (_, input) => {
    await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "ok" }));
    const { stderr, exitCode } = await pipe(["anthropic"], input, { ANTHROPIC_BASE_URL: server.url });
    expect([exitCode, server.requests, filesWithKey()]).toEqual([2, [], []]);
    expect(stderr).not.toContain(KEY);
    expect(stderr).toMatch(/nothing was stored\.\n$/i);
  });

  test("stores nothing if the provider cannot be reached, and says why and how to store it untested", async () => {
    const environment = { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" };
    const { stderr, exitCode } = await pipe(["anthropic"], KEY, environment);
    expect([exitCode, existsSync(configPath())]).toEqual([1, false]);
    expect(stderr).toContain("The request to 127.0.0.1:1 failed: the connection was refused (ECONNREFUSED).");
    expect(stderr).toContain("The key was not stored");
    expect(stderr).toContain("diligent login anthropic --no-check");
    expect((await pipe(["anthropic", "--no-check"], KEY, environment)).exitCode).toBe(0);
    expect(stored()).toEqual({ provider: { anthropic: { apiKey: KEY } } });
  });

  test("accepts a key that the provider recognizes but reports as out of credit", async () => {
    const reply = errorReply(400, "invalid_request_error", "Your credit balance is too low");
    await using server = await startSseServer(reply);
    const { stdout, exitCode } = await pipe(["anthropic"], KEY, { ANTHROPIC_BASE_URL: server.url });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("credit balance is too low")]);
    expect(filesWithKey()).toEqual([configPath()]);
  });

  test("warns that another key in the environment takes precedence", async () => {
    await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "ok" }));
    const environment = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-other" };
    const { stdout } = await pipe(["anthropic"], KEY, environment);
    expect(stdout).toContain("ANTHROPIC_API_KEY is set to a different key, which overrides");
    expect(stdout).not.toContain("sk-other");
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });
});

describe("diligent login refuses with exit code 2, without repeating its input:", () => {
  test.each([
    ["a key as an argument", ["anthropic", KEY], "takes no key as an argument"],
    [
      "a key in the place of the name",
      [KEY],
      "Unknown provider; choose one of anthropic, openai. A key is never an argument: it is asked for, and not shown.",
    ],
    ["a key as an option", ["anthropic", `--key=${KEY}`], "unknown option"],
    ["a key that looks like an option", [`--${KEY}`], "unknown option"],
    ["an unknown name", ["antropic"], "Did you mean anthropic?"],
    ["a missing name without a terminal", [], "login needs a provider: anthropic, openai"],
  ])("%s", async (_, args, text) => {
    const { stdout, stderr, exitCode } = await pipe(args, "");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain(KEY);
    expect(filesWithKey()).toEqual([]);
  });
});

describe("diligent login in a terminal", () => {
  test("asks for the provider and the hidden key; Backspace deletes", async () => {
    await using server = await startSseServer(wholeReply(OPENAI_SERVICE, { text: "ok" }));
    const environment = { OPENAI_BASE_URL: `${server.url}/v1` };
    await using program = startInPty(place, ["login"], { environment, columns: 200 });
    await program.waitFor("Which provider? [1-2]");
    program.send("2\r");
    await program.waitFor("Paste the key for openai and press Enter; it is not shown.");
    await program.waitFor("Key:");
    program.send(`${KEY}xx\x7f\x7f\r`);
    await program.waitFor("The key for openai works and is stored in");
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).not.toContain(KEY.slice(0, 12));
    expect(stored()).toEqual({ provider: { openai: { apiKey: KEY } } });
  });

  test("names the host that tests the key, and the setting that names the host, before the key is pasted", async () => {
    await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "ok" }));
    const file = place.write("diligent.jsonc", { provider: { anthropic: { baseUrl: server.url } } });
    const { host } = new URL(server.url);
    expect((await runDiligent(place, ["trust", "--yes"])).exitCode).toBe(0);
    await using program = startInPty(place, ["login", "anthropic"], { columns: 250 });
    const screen = await program.waitFor("Key:");
    expect(screen.join("\n")).toContain(`One request to ${host} (set in ${file}) tests it.`);
    program.send("\x03");
    expect(await program.exitCode).toBe(130);
    await using other = startInPty(place, ["login", "openai"], { columns: 250 });
    expect((await other.waitFor("Key:")).join("\n")).toContain("One request to api.openai.com tests it.");
    expect(server.requests).toEqual([]);
  });

  test("ends with Ctrl+C, and nothing is stored", async () => {
    await using program = startInPty(place, ["login", "anthropic"]);
    await program.waitFor("Key:");
    program.send(`${KEY}\x03`);
    expect([await program.exitCode, filesWithKey()]).toEqual([130, []]);
  });
});

describe("diligent logout NAME", () => {
  test("removes the stored key, and says so if there is none", async () => {
    writeUserConfig(place, { model: "opus", provider: { anthropic: { apiKey: KEY } } });
    const first = await runDiligent(place, ["logout", "anthropic"]);
    expect([first.exitCode, first.stdout]).toEqual([
      0,
      `The key for anthropic was removed from ${configPath()}.\n`,
    ]);
    expect([stored(), filesWithKey()]).toEqual([{ model: "opus", provider: { anthropic: {} } }, []]);
    const second = await runDiligent(place, ["logout", "anthropic"]);
    expect([second.exitCode, second.stdout]).toEqual([0, "There was no stored key for anthropic.\n"]);
  });

  test("without a NAME removes the only stored key after a confirmation at a terminal", async () => {
    writeUserConfig(place, { provider: { openai: { apiKey: KEY } } });
    const environment = { ANTHROPIC_API_KEY: "sk-ant-in-the-environment" };
    for (const [answer, isStored] of [
      ["n\r", true],
      ["y\r", false],
    ] as const) {
      await using program = startInPty(place, ["logout"], { environment, columns: 120 });
      await program.waitFor("Remove the stored key for openai? [y/N]");
      program.send(answer);
      expect([await program.exitCode, filesWithKey().length > 0]).toEqual([0, isStored]);
    }
    writeUserConfig(place, { provider: { openai: { apiKey: KEY } } });
    const { stdout, exitCode } = await runDiligent(place, ["logout"], { environment });
    expect([exitCode, stdout]).toEqual([0, `The key for openai was removed from ${configPath()}.\n`]);
    expect(filesWithKey()).toEqual([]);
  });

  test("without a NAME lists the stored keys if there are several, and offers no others", async () => {
    const keys = {
      openai: { apiKey: KEY },
      compatible: { work: { baseUrl: "http://a.test/v1", apiKey: KEY } },
    };
    writeUserConfig(place, { provider: keys });
    const { stderr, exitCode } = await runDiligent(place, ["logout"]);
    expect([exitCode, stderr]).toEqual([2, "diligent: logout needs a provider: openai, work\n"]);
  });

  test.each([[[]], [["nobody"]], [["anthropic", "openai"]]])("refuses %p with exit code 2", async (args) => {
    const { stderr, exitCode } = await runDiligent(place, ["logout", ...args]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("anthropic, openai")]);
  });
});
