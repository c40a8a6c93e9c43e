import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { runInTerminal } from "../support/run-in-terminal.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { allowPages, readPages, servePages } from "../support/web-pages.ts";

let place: TemporaryProject;
let server: Bun.Server<undefined>;

beforeEach(() => {
  place = createTemporaryProject();
  server = servePages();
});

afterEach(async () => {
  place.remove();
  await server.stop(true);
});

async function print(addresses: readonly string[], args: readonly string[] = []) {
  place.write("script.json", readPages(addresses));
  const words = ["-p", "go", "-m", "scripted/script.json", "--output-format", "stream-json", ...args];
  const { stdout, stderr, exitCode } = await runDiligent(place, words);
  const events = parseLines(stdout);
  const find = (type: string) => events.filter((event) => event.type === type);
  return {
    stderr,
    exitCode,
    connections: find("network"),
    asked: find("approval_request"),
    ends: find("tool_end"),
  };
}

const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
// This machine's own name is resolved without a name server, and stands for no public address.
const OWN_NAME = hostname();

describe("a page that the model reads", () => {
  test("needs an approval, without which -p ends with exit code 4 and says what would allow it", async () => {
    const { exitCode, asked, connections, ends } = await print(["https://docs.example.com/a?b=c"]);
    expect(exitCode).toBe(4);
    const details = { host: "docs.example.com", port: 443, url: "https://docs.example.com/a?b=c" };
    expect(asked).toMatchObject([
      { gate: "network", request: { permission: "fetch", toolName: "web_fetch", details } },
    ]);
    expect(connections).toEqual([]);
    expect(ends).toMatchObject([{ isError: true, outcome: "rejected" }]);
    expect(ends[0]?.output).toContain(
      '--approval auto would allow it, or the rule {"permission":"fetch","pattern":"docs.example.com","action":"allow"} in permissions',
    );
    const { stderr } = await runDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
    expect(stderr).toContain("web_fetch: https://docs.example.com/a?b=c");
    expect(stderr).toContain("--approval auto allows everything");
  });

  test("is converted by the shipped program, and no library is taken from the project", async () => {
    place.configure(allowPages(server));
    const canary = join(place.top, "canary");
    const owned = `require("fs").writeFileSync(${JSON.stringify(canary)}, "")`;
    for (const name of ["canvas", "pdfjs-dist", "linkedom", "unpdf", "@napi-rs/canvas"])
      place.write(`node_modules/${name}/index.js`, owned);
    const { exitCode, ends, connections } = await print([at("/guide"), at("/paper"), at("/away")]);
    expect(exitCode).toBe(0);
    const [guide, paper, away] = ends;
    expect(guide?.output).toContain("Title: The guide\n");
    expect(guide?.output).toContain("This is a sentence of the article");
    expect(guide?.output).not.toContain("Menu");
    expect(paper?.output).toContain("## Page 1\n\nThe first page\n\n## Page 2\n\nThe second page");
    expect(away).toMatchObject({ isError: true });
    expect(existsSync(canary)).toBe(false);
    const connection = {
      host: "127.0.0.1",
      port: server.port,
      allowed: true,
      by: "the approval of web_fetch",
    };
    expect(connections).toEqual(
      [guide, paper, away].map(() => ({
        type: "network",
        ...connection,
        purpose: "web_fetch",
        bytes: expect.any(Number),
      })),
    );
    const { stdout } = await runDiligent(place, ["network", "--json"]);
    expect(JSON.parse(stdout)).toEqual([
      { ...connection, purpose: "web_fetch", bytes: expect.any(Number), connections: 3 },
    ]);
  });

  test("is refused at a private address without a rule that names it, in the mode auto too", async () => {
    const addresses = [at("/guide"), `http://${OWN_NAME}:${server.port}/guide`, "http://localhost/"];
    const { exitCode, ends, connections } = await print(addresses, ["--approval", "auto"]);
    expect(exitCode).toBe(0);
    expect(ends.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(ends[0]?.output).toContain("127.0.0.1 is not a public address; only the rule");
    expect(ends[1]?.output).toContain(`the name ${OWN_NAME} `);
    expect(ends[2]?.output).toContain("localhost is this computer");
    expect(connections.every(({ bytes }) => bytes === 0)).toBe(true);
  });

  test("is asked about in the line prompt with its whole address", async () => {
    const address = `https://${OWN_NAME}/a?data=${"x".repeat(100)}`;
    place.write("script.json", readPages([address, address]));
    const program = runInTerminal(place, ["-m", "scripted/script.json", "go"]);
    try {
      await program.shown(`Allow web_fetch? Reason: no rule and no earlier answer allows pages of`);
      await program.shown(address);
      await program.shown(`web_fetch: pages of ${OWN_NAME}`);
      await program.shown("Allow it? ");
      // The second call is covered by the answer to the first.
      program.type("a\r");
      await program.shown("Done.");
    } finally {
      program.process.kill("SIGKILL");
    }
  });
});

test("the screen asks about a page with its whole address, also in plan mode, and shows its title", async () => {
  place.configure(allowPages(server));
  place.write("script.json", readPages([at("/guide"), `https://${OWN_NAME}/a?b=c`]));
  await using session = new ScreenSession({ place, args: ["--approval", "plan"] });
  await session.opened();
  await session.say("read both");
  await session.hasShown("The guide, ");
  await session.answer(`https://${OWN_NAME}/a?b=c`, "n");
  await session.shows("rejected");
  await session.rests();
});
