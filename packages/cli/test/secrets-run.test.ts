import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorReply, startSseServer } from "../../core/test/support/sse-server.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { environmentFor, SERVICES, wholeReply } from "./support/vendor-service.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const TOKEN = "ghp_u7Vb2Nw9Xc4Zq1Ls";
// Long enough to belong to the key only.
const PIECES = [KEY.slice(0, 20), KEY.slice(-20), TOKEN.slice(0, -1), TOKEN.slice(1)];

/** The project's own files, and the copies that undo needs. */
const OWN_FILES = /\.env$|settings\.txt$|AGENTS\.md$|\/checkpoints\/.*\.pack$/;

/** All files that the program has written, by path. */
function writtenFiles({ top }: TemporaryProject): Record<string, string> {
  const files = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    paths.flatMap((path) => (OWN_FILES.test(path) ? [] : [[path, readFileSync(path, "latin1")]])),
  );
}

/** The names of the texts that contain part of a secret. */
function leaks(texts: Readonly<Record<string, string>>): string[] {
  return Object.keys(texts).filter((name) => PIECES.some((piece) => texts[name]?.includes(piece)));
}

describe.each(SERVICES)("with $name", (service) => {
  const environment = (url: string) => ({
    ...environmentFor(service, url),
    [service.keyVariable]: KEY,
    GITHUB_TOKEN: TOKEN,
  });

  test("keys in files, prompts, instructions and answers are in no written file, output or request", async () => {
    const place = createTemporaryProject();
    place.write("settings.txt", `A_KEY=${KEY}\nGITHUB_TOKEN=${TOKEN}\n`);
    place.write(".env", `A_KEY=${KEY}\n`);
    place.write("AGENTS.md", `The key is ${KEY}.\n`);
    await using server = await startSseServer(
      wholeReply(service, {
        text: "Looking.",
        calls: [
          {
            id: "call_1",
            name: "bash",
            input: {
              command: "cat settings.txt; base64 -w 0 settings.txt; sed s/^/x/ settings.txt >&2; false",
            },
          },
          { id: "call_2", name: "read", input: { file_path: ".env" } },
          { id: "call_3", name: "bash", input: { command: `echo ${KEY}` } },
        ],
      }),
      wholeReply(service, { text: `Your key is ${KEY}${KEY} and your token ${TOKEN}.` }),
    );
    const args = [
      "-p",
      `Is ${KEY} right?`,
      "--approval",
      "auto",
      "--verbose",
      "--output-format",
      "stream-json",
    ];
    const { stdout, stderr, exitCode } = await runDiligent(place, args, {
      environment: environment(server.url),
    });
    expect(exitCode).toBe(0);
    expect(
      leaks({ stdout, stderr, requests: JSON.stringify(server.requests.map(({ body }) => body)) }),
    ).toEqual([]);
    expect(leaks(writtenFiles(place))).toEqual([]);
    expect(stdout).toContain(`A_KEY=[key of ${service.name}]\\nGITHUB_TOKEN=[value of GITHUB_TOKEN]`);
    expect(stdout).toContain(
      `Your key is [key of ${service.name}][key of ${service.name}] and your token [value of GITHUB_TOKEN].`,
    );
    expect(server.requests).toHaveLength(2);
    place.remove();
  });

  test("a key in a server's error is in no file and no output", async () => {
    const place = createTemporaryProject();
    await using server = await startSseServer(
      errorReply(401, "authentication_error", `Incorrect API key provided: ${KEY}, not ${TOKEN}`),
    );
    for (const format of ["text", "json"]) {
      const args = ["-p", "go", "--verbose", "--output-format", format];
      const { stdout, stderr, exitCode } = await runDiligent(place, args, {
        environment: environment(server.url),
      });
      expect([exitCode, leaks({ stdout, stderr }), leaks(writtenFiles(place))]).toEqual([1, [], []]);
      expect(stdout + stderr).toContain(
        `Incorrect API key provided: [key of ${service.name}], not [value of GITHUB_TOKEN]`,
      );
    }
    place.remove();
  });
});
