import { expect, test } from "bun:test";
import { createChildEnvironment } from "../../src/infrastructure/process/environment.ts";

test("a child gets the listed variables and those that mark it as unattended, nothing else", () => {
  const environment = {
    PATH: "/usr/bin:.",
    HOME: "/home/a",
    LC_ALL: "C.UTF-8",
    HTTPS_PROXY: "http://proxy:1",
    EDITOR: "vim",
    TERM: "xterm-256color",
    OPENAI_API_KEY: "secret",
    LC_API_KEY: "secret",
    XDG_TOKEN: "secret",
    SSH_AUTH_SOCK: "/tmp/agent",
    LD_PRELOAD: "/tmp/x.so",
    "BASH_FUNC_ls%%": "() { :; }",
  };
  expect(createChildEnvironment({ environment, sessionId: "s1", root: "/p", cwd: "/p" })).toEqual({
    PATH: "/usr/bin",
    HOME: "/home/a",
    LC_ALL: "C.UTF-8",
    HTTPS_PROXY: "http://proxy:1",
    AI_AGENT: "diligent",
    DILIGENT_SESSION_ID: "s1",
    TERM: "dumb",
    PAGER: "cat",
    GIT_PAGER: "cat",
    MANPAGER: "cat",
    EDITOR: "false",
    VISUAL: "false",
    GIT_EDITOR: "false",
    GIT_SEQUENCE_EDITOR: "false",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    SSH_ASKPASS: "false",
    SSH_ASKPASS_REQUIRE: "force",
    GCM_INTERACTIVE: "never",
    DEBIAN_FRONTEND: "noninteractive",
  });
});
