import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorReply, type ReceivedRequest, startSseServer } from "../../core/test/support/sse-server.ts";
import { startInPty } from "./support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { ANTHROPIC_SERVICE, OPENAI_SERVICE, wholeReply } from "./support/vendor-service.ts";

const KEY = "sk-ant-test-0123456789abcdef";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => {
  place.remove();
});

const configPath = () => join(place.home, ".config", "diligent", "diligent.jsonc");

/** Every file below home and project that contains the key. */
function filesWithKey(): string[] {
  return [place.home, place.project].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .map((name) => join(root, name))
      .filter((path) => statSync(path).isFile() && readFileSync(path, "utf8").includes(KEY)),
  );
}

/** A service that accepts only the right key. */
const startService = () =>
  startSseServer(({ headers }: ReceivedRequest) =>
    headers.authorization === `Bearer ${KEY}`
      ? wholeReply(ANTHROPIC_SERVICE, { text: "The answer." })
      : errorReply(401, "authentication_error", "invalid x-api-key"),
  );

const wrongKey = (url: string) => ({ ANTHROPIC_API_KEY: "sk-ant-wrong-1", ANTHROPIC_BASE_URL: url });

describe("/login on the screen", () => {
  test("asks for a hidden key, and the session continues with it although the variable has another", async () => {
    await using server = await startService();
    await using program = startInPty(place, ["why so?"], { environment: wrongKey(server.url), columns: 120 });
    await program.waitFor("invalid x-api-key");
    program.send("/login\r");
    await program.waitFor("Log in");
    program.send("\r");
    await program.waitFor("Paste the key for anthropic");
    program.send(`\x1b[200~${KEY}\x1b[201~`);
    await program.waitFor("•••");
    program.send("\r");
    await program.waitFor("works and is stored in");
    await program.waitFor("uses the new key");
    await program.waitFor("ANTHROPIC_API_KEY is set to a different key");
    program.send("again please\r");
    await program.waitFor("The answer.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).not.toContain(KEY.slice(0, 12));
    expect((statSync(configPath()).mode & 0o777).toString(8)).toBe("600");
    expect(filesWithKey()).toEqual([configPath()]);
  });

  test("refuses a wrong key, stores nothing, and Escape closes the question", async () => {
    await using server = await startService();
    await using program = startInPty(place, [], { environment: wrongKey(server.url), columns: 120 });
    await program.waitFor("ask");
    program.send("/login anthropic\r");
    await program.waitFor("Paste the key for anthropic");
    program.send("sk-ant-nonsense-99\r");
    await program.waitFor("The key was not stored.");
    program.send("/login anthropic\r");
    await program.waitFor("Paste the key for anthropic");
    program.send("\x1b");
    await program.settle();
    program.send("\x1b");
    await program.settle();
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(filesWithKey()).toEqual([]);
  });

  test("refuses a key after the name, and keeps it out of the transcript and every file", async () => {
    await using server = await startService();
    await using program = startInPty(place, [], { environment: wrongKey(server.url), columns: 120 });
    await program.waitFor("ask");
    program.send(`/login anthropic ${KEY}`);
    await program.waitFor(KEY.slice(-8));
    expect(filesWithKey()).toEqual([]);
    program.send("\r");
    await program.waitFor("it asks for the key, which is not shown");
    program.send("\x1b[A");
    await program.settle();
    expect((await program.scrollback()).join("\n")).not.toContain(KEY);
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect([filesWithKey(), server.requests]).toEqual([[], []]);
  });

  test("keeps the current model if the key is for another provider", async () => {
    await using openai = await startSseServer(wholeReply(OPENAI_SERVICE, { text: "Sol speaks." }));
    await using anthropic = await startService();
    const environment = {
      OPENAI_API_KEY: "sk-openai-test-1",
      OPENAI_BASE_URL: `${openai.url}/v1`,
      ANTHROPIC_BASE_URL: anthropic.url,
    };
    await using program = startInPty(place, [], { environment, columns: 120 });
    await program.waitFor("Using gpt-6.2-sol");
    program.send("/login anthropic\r");
    await program.waitFor("Paste the key for anthropic");
    program.send(`${KEY}\r`);
    await program.waitFor("Still using gpt-6.2-sol; switch with /model.");
    program.send("go on now\r");
    await program.waitFor("Sol speaks.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
  });
});

/** A service whose answer to the first prompt is delayed until the test ends its run. */
function startSlowService(release: Promise<void>) {
  let count = 0;
  return startSseServer(async ({ headers, body }: ReceivedRequest) => {
    const isTrial = JSON.stringify(body).includes("Say ok.");
    const isRight = headers.authorization === `Bearer ${KEY}`;
    if (isTrial && !isRight) return errorReply(401, "authentication_error", "invalid x-api-key");
    if (!isTrial && ++count === 1) await release;
    return wholeReply(ANTHROPIC_SERVICE, { text: isRight ? "With the new key." : "With the old key." });
  });
}

describe("/login during a run", () => {
  test("asks for the key at once, does not show it, and the session uses it after the run", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using server = await startSlowService(promise);
    await using program = startInPty(place, ["why so?"], { environment: wrongKey(server.url), columns: 120 });
    await program.waitUntil(() => server.requests.length === 1);
    program.send("/login anthropic\r");
    await program.waitFor("Paste the key for anthropic");
    program.send(`\x1b[200~${KEY}\x1b[201~`);
    await program.waitFor("•••");
    program.send("\r");
    await program.waitFor("works and is stored in");
    await program.waitFor("The session uses the new key after the current task.");
    resolve();
    await program.waitFor("With the old key.");
    await program.waitFor("uses the new key.");
    program.send("again please\r");
    await program.waitFor("With the new key.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).not.toContain(KEY.slice(0, 12));
    expect(filesWithKey()).toEqual([configPath()]);
  });

  test("a question of the run waits until the key is entered", async () => {
    const call = { id: "toolu_1", name: "bash", input: { command: "touch made" } };
    const { promise, resolve } = Promise.withResolvers<void>();
    let count = 0;
    await using server = await startSseServer(async () => {
      if (++count > 1) return wholeReply(ANTHROPIC_SERVICE, { text: "Done." });
      await promise;
      return wholeReply(ANTHROPIC_SERVICE, { text: "Calling.", calls: [call] });
    });
    await using program = startInPty(place, ["why so?"], { environment: wrongKey(server.url), columns: 120 });
    await program.waitUntil(() => server.requests.length === 1);
    program.send("/login anthropic\r");
    await program.waitFor("Paste the key for anthropic");
    resolve();
    await program.waitFor("bash touch made");
    program.send(KEY);
    await program.waitFor("•••");
    expect((await program.screen()).join("\n")).not.toContain("Allow bash?");
    program.send("\x1b");
    await program.waitFor("type to filter");
    program.send("\x1b");
    await program.waitFor("Allow bash?");
    expect(program.bytes).not.toContain(KEY.slice(0, 12));
  });

  test("at the line prompt accepts a key pasted with the command, and sends it to no model", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using server = await startSlowService(promise);
    const args = ["--plain-ui", "why so?"];
    await using program = startInPty(place, args, { environment: wrongKey(server.url), columns: 120 });
    await program.waitUntil(() => server.requests.length === 1);
    program.send(`/login anthropic\r${KEY}\r`);
    await program.waitFor("The session uses the new key after the current task.");
    resolve();
    await program.waitFor("With the old key.");
    await program.waitFor("uses the new key.");
    program.send("again please\r");
    await program.waitFor("With the new key.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain(KEY.slice(0, 12));
    expect(filesWithKey()).toEqual([configPath()]);
  });
});

describe("/logout", () => {
  const store = (...names: string[]) =>
    place.configure({
      sandbox: "off",
      provider: Object.fromEntries(names.map((name) => [name, { apiKey: `${KEY}-${name}` }])),
    });

  test("offers the stored keys, even a single one, and removes the chosen one", async () => {
    store("anthropic");
    const environment = { OPENAI_API_KEY: "sk-openai-test-1" };
    await using program = startInPty(place, [], { environment, columns: 120 });
    await program.waitFor("ask");
    program.send("/logout\r");
    await program.waitFor("Remove a stored key");
    expect((await program.settle()).join("\n")).not.toContain("openai");
    program.send("\r");
    await program.waitFor("The key for anthropic was removed from");
    await program.waitFor("This session keeps using its current key.");
    expect(filesWithKey()).toEqual([]);
    program.send("/logout\r");
    await program.waitFor("There is no stored key.");
  });
});

describe("/login at the line prompt", () => {
  const startLines = (url: string) =>
    startInPty(place, ["--plain-ui"], { environment: wrongKey(url), columns: 120 });

  test("asks for a key that the terminal does not show, and the session continues with it", async () => {
    await using server = await startService();
    await using program = startLines(server.url);
    await program.waitFor("diligent>");
    program.send("/login\r");
    await program.waitFor("1. anthropic");
    program.send("/login 1\r");
    await program.waitFor("Key:");
    program.send(`${KEY}x\x7f\r`);
    await program.waitFor("works and is stored in");
    await program.waitFor("uses the new key");
    program.send("why so\r");
    await program.waitFor("The answer.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).not.toContain(KEY.slice(0, 12));
    expect(filesWithKey()).toEqual([configPath()]);
  });

  test("closes the question on Ctrl+C, and the terminal echoes again", async () => {
    await using server = await startService();
    await using program = startLines(server.url);
    await program.waitFor("diligent>");
    program.send("/login anthropic\r");
    await program.waitFor("Key:");
    program.send("half of it\x03");
    await program.waitFor("No key was given; nothing was stored.");
    program.send("/logout anthropic\r");
    await program.waitFor("/logout anthropic");
    await program.waitFor("There was no stored key for anthropic.");
    program.send("/logout\r");
    await program.waitFor("There is no stored key.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).not.toContain("half of it");
  });

  test("takes a key that was pasted together with the command as the answer, not as a prompt", async () => {
    await using server = await startService();
    await using program = startLines(server.url);
    await program.waitFor("diligent>");
    program.send(`/login anthropic\r${KEY}\r`);
    await program.waitFor("uses the new key");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect([server.requests.length, filesWithKey()]).toEqual([1, [configPath()]]);
  });
});
