import { afterEach, beforeEach, expect, test } from "bun:test";
import * as messages from "../../../core/test/support/answers.ts";
import * as responses from "../../../core/test/support/openai-answers.ts";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, OPENAI_SERVICE, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const PAGE = { url: "https://docs.example/release", title: "The release notes" };

const SEARCHED_BY_ANTHROPIC = [
  messages.messageStart(),
  ...messages.block(
    0,
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    { type: "input_json_delta", partial_json: '{"query":"newest release"}' },
  ),
  ...messages.block(1, {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", ...PAGE, encrypted_content: "secret-page", page_age: null }],
  }),
  ...messages.block(
    2,
    { type: "text", text: "", citations: [] },
    { type: "text_delta", text: "It is 1.4." },
    {
      type: "citations_delta",
      citation: { type: "web_search_result_location", ...PAGE, encrypted_index: "i", cited_text: "1.4" },
    },
  ),
  ...messages.messageEnd("end_turn", { output_tokens: 5, server_tool_use: { web_search_requests: 1 } }),
];

const CITED = [{ type: "url_citation", ...PAGE, start_index: 0, end_index: 5 }];
const SEARCHED_BY_OPENAI = [
  responses.created(),
  ...responses.item(0, {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "newest release" },
  }),
  ...responses.item(1, responses.messageItem("msg_1", [responses.textPart("It is 1.4.", CITED)])),
  responses.completed(),
];

const SERVICES = [
  [ANTHROPIC_SERVICE, SEARCHED_BY_ANTHROPIC, "web_search_20250305"],
  [OPENAI_SERVICE, SEARCHED_BY_OPENAI, "web_search"],
] as const;

test.each(SERVICES)(
  "$name searches if webSearch is set: searches, sources and their cost are shown, and all of it is sent back",
  async (service, events, type) => {
    place.configure({ webSearch: true });
    await using server = await startSseServer({ events }, wholeReply(service, { text: "Again." }));
    const environment = environmentFor(service, server.url);
    const first = await runDiligent(place, ["-p", "which release is the newest?"], { environment });
    expect(first.stdout).toBe("It is 1.4.\n");
    expect(first.stderr).toContain(
      "web_search: newest release\nSources:\n  1. The release notes https://docs.example/release\n",
    );
    const second = await runDiligent(place, ["-c", "-p", "and now?", "--output-format", "json"], {
      environment,
    });
    expect(second.exitCode).toBe(0);
    expect(server.problems).toEqual([]);
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    for (const body of bodies) expect(body).toContain(`"type":"${type}"`);
    expect(bodies[1]).toContain("newest release");
    expect(bodies[1]).toContain(PAGE.url);
  },
);

test.each(SERVICES)(
  "$name is not offered a search by default, nor by an untrusted project",
  async (service) => {
    place.write("diligent.jsonc", { webSearch: true });
    await using server = await startSseServer(wholeReply(service, { text: "Done." }));
    const environment = environmentFor(service, server.url);
    const { stderr } = await runDiligent(place, ["-p", "hi"], { environment });
    expect(stderr).toContain("webSearch");
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('"web_search');
  },
);

test("a rule or a list that refuses searches keeps the tool from the provider", async () => {
  await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Done." }));
  const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
  place.configure({ webSearch: true });
  await runDiligent(place, ["-p", "hi", "--disallowed-tools", "WebSearch"], { environment });
  const permissions = [{ permission: "fetch", pattern: "*", action: "deny" }];
  place.configure({ webSearch: true, permissions });
  await runDiligent(place, ["-p", "hi"], { environment });
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(body).not.toContain('"web_search');
});

test("a sub-agent may search if its definition leaves it the tool, and its search counts", async () => {
  const agent = (tools: string) => `---\nname: scout\ndescription: Scouts.\n${tools}---\nScout.\n`;
  const delegating = wholeReply(ANTHROPIC_SERVICE, {
    text: "I ask.",
    calls: [
      { id: "call_1", name: "task", input: { description: "Scout", prompt: "Scout.", agent: "scout" } },
    ],
  });
  for (const [tools, isOffered] of [
    ["", true],
    ["tools: Read, WebSearch\n", true],
    ["tools: Read\n", false],
    ["disallowedTools: WebSearch\n", false],
  ] as const) {
    place.configure({ webSearch: true });
    place.write("../home/.claude/agents/scout.md", agent(tools));
    const answer = isOffered
      ? { events: SEARCHED_BY_ANTHROPIC }
      : wholeReply(ANTHROPIC_SERVICE, { text: "No." });
    await using server = await startSseServer(
      delegating,
      answer,
      wholeReply(ANTHROPIC_SERVICE, { text: "Done." }),
    );
    const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
    const { stdout } = await runDiligent(place, ["-p", "hi", "--output-format", "json"], { environment });
    const offers = server.requests.map(({ body }) =>
      JSON.stringify(body).includes('"type":"web_search_20250305"'),
    );
    expect(offers).toEqual([true, isOffered, true]);
    expect(JSON.parse(stdout).usage.webSearches ?? 0).toBe(isOffered ? 1 : 0);
  }
});

test("a search counts in the usage and the cost", async () => {
  place.configure({ webSearch: true });
  await using server = await startSseServer({ events: SEARCHED_BY_ANTHROPIC });
  const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
  const run = (args: string[]) =>
    runDiligent(place, ["-p", "hi", "--output-format", "json", ...args], { environment });
  const { usage, cost } = JSON.parse((await run([])).stdout);
  expect(usage.webSearches).toBe(1);
  expect(cost).toBeGreaterThan(0.01);
  expect(cost).toBeLessThan(0.02);
});

test("the screen shows what was searched for and the cited pages, also after a resume", async () => {
  place.configure({ webSearch: true });
  await using server = await startSseServer({ events: SEARCHED_BY_ANTHROPIC });
  const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
  const first = new ScreenSession({ place, args: ["-m", ANTHROPIC_SERVICE.model], environment });
  await using _ = first;
  await first.program.waitFor(ANTHROPIC_SERVICE.model);
  await first.say("which release?");
  await first.shows("web_search: newest release");
  await first.shows("https://docs.example/release");
  await first.quit();
  await using second = new ScreenSession({ place, args: ["-c", "-m", ANTHROPIC_SERVICE.model], environment });
  await second.shows("https://docs.example/release");
});
