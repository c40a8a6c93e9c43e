import { expect, test } from "bun:test";
import { findMetRules, type SandboxRule } from "../../src/sandbox/box/failure-signs.ts";

const RUN = { line: "build 2>&1 | tail -20", hasFailed: false, hasNetwork: false };

const find = (output: string, run: Partial<typeof RUN> = {}) => findMetRules(output, { ...RUN, ...run });

/** The last line that each program prints, which a filter such as `tail -1` leaves. */
const FAILURES: Readonly<Record<string, readonly [SandboxRule, ...string[]]>> = {
  pip: [
    "network",
    "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7fa15ee58550>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/left-pad/",
    "ERROR: Could not find a version that satisfies the requirement left-pad (from versions: none)",
    "ERROR: No matching distribution found for left-pad",
    "No matching distribution found for flexget",
  ],
  npm: [
    "network",
    "npm error code EAI_AGAIN",
    "npm error request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
    "npm ERR! network request to https://registry.npmjs.org/x failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org",
  ],
  pnpm: [
    "network",
    " ERR_PNPM_META_FETCH_FAIL  GET https://registry.npmjs.org/left-pad: request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
    " WARN  GET https://registry.npmjs.org/a error (ENOTFOUND). Will retry in 10 seconds. 2 retries left.",
  ],
  yarn: [
    "network",
    "error Error: getaddrinfo EAI_AGAIN registry.yarnpkg.com",
    'error An unexpected error occurred: "https://registry.yarnpkg.com/a: getaddrinfo ENOTFOUND registry.yarnpkg.com registry.yarnpkg.com:443".',
    "info There appears to be trouble with your network connection. Retrying...",
    "\u001b[33mwarning\u001b[39m You don't appear to have an internet connection. Try the --offline flag to use the cache for registry queries.",
    "➤ YN0001: │ RequestError: getaddrinfo ENOTFOUND registry.yarnpkg.com",
  ],
  bun: ["network", "error: DNSResolveFailed downloading package manifest left-pad"],
  cargo: [
    "network",
    "  [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
    "warning: spurious network error (2 tries remaining): [6] Couldn't resolve host name (Could not resolve host: static.crates.io)",
    "As a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures, if this error is too confusing you may wish to retry without `--offline`.",
    "  can't checkout from 'https://github.com/a/b': you are in the offline mode (--offline)",
    "  attempting to make an HTTP request, but --offline was specified",
  ],
  rustup: [
    "network",
    "error: could not download file from 'https://static.rust-lang.org/dist/channel-rust-stable.toml.sha256' to '/root/.rustup/tmp/a_file': failed to make network request",
  ],
  uv: [
    "network",
    "  ╰─▶ dns error: failed to lookup address information: Temporary failure in name resolution",
    "  Caused by: error sending request for url (https://pypi.org/simple/tqdm/)",
    "error: Failed to fetch: `https://pypi.org/simple/tqdm/`",
  ],
  go: [
    "network",
    "go: golang.org/x/net@v0.25.0: module lookup disabled by GOPROXY=off",
    'main.go:14:2: github.com/creack/pty@v1.1.24: Get "https://proxy.golang.org/github.com/creack/pty/@v/v1.1.24.zip": dial tcp: lookup proxy.golang.org: i/o timeout',
  ],
  gem: [
    "network",
    "ERROR:  Could not find a valid gem 'rails' (>= 0), here is why:",
    "          Unable to download data from https://rubygems.org/ - no such name (https://rubygems.org/specs.4.8.gz)",
    "Could not reach host index.rubygems.org. Check your network connection and try",
  ],
  maven: [
    "network",
    "[ERROR] Plugin org.apache.maven.plugins:maven-resources-plugin:2.6 or one of its dependencies could not be resolved: Could not transfer artifact a:b:pom:2.6 from/to central (https://repo.maven.apache.org/maven2): transfer failed for https://repo.maven.apache.org/maven2/a.pom: Unknown host repo.maven.apache.org: Temporary failure in name resolution -> [Help 1]",
    "[ERROR] Failed to execute goal on project b: Could not transfer artifact org.a:a:pom:1.0 from/to central (https://repo.maven.apache.org/maven2): /root/.m2/repository/org/a/a/1.0/a-1.0.pom.part.lock (No such file or directory) -> [Help 1]",
  ],
  gradle: [
    "network",
    "            > repo1.maven.org: Name or service not known",
    "         > Could not GET 'https://repo1.maven.org/maven2/a/b/1/b-1.pom'.",
  ],
  apt: [
    "network",
    "  Temporary failure resolving 'deb.debian.org'",
    "E: Failed to fetch http://deb.debian.org/debian/pool/main/c/cowsay_3.deb  Temporary failure resolving 'deb.debian.org'",
  ],
  "apt, by files": [
    "write",
    "W: chmod 0700 of directory /var/lib/apt/lists/partial failed - SetupAPTPartialDirectory (30: Read-only file system)",
    "W: Not using locking for read only lock file /var/lib/dpkg/lock",
  ],
  "apt, by rights": [
    "privilege",
    "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
  ],
  docker: [
    "service",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    'docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Post "http://%2Fvar": dial unix /var/run/docker.sock: connect: permission denied.',
    "Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
    "error during connect: Get http://docker: dial unix /run/docker.sock: connect: no such file or directory",
  ],
  "git and clients": [
    "network",
    "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
    "ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
    "curl: (6) Could not resolve host: a.example",
    "wget: unable to resolve host address ‘a.example’",
    "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
  ],
  "stores of programs": [
    "write",
    "error: could not create temp file /root/.rustup/tmp/9ktcavcavtaro1in_file",
    'error: cannot write files to cache directory "/root/.bun/install/cache/": EROFS',
    "  Caused by: failed to open file `/root/.cache/uv/.lock`: Read-only file system (os error 30)",
    "OSError: [Errno 30] Read-only file system: '/root/.cache/x'",
    "touch: cannot touch '/etc/x': Read-only file system",
  ],
};

for (const [program, [rule, ...lines]] of Object.entries(FAILURES)) {
  test.each(lines)(`a failure of ${program} behind a filter is attributed to its rule: %s`, (text) => {
    expect(find(`first line\n${text}\n`)).toEqual([rule]);
    expect(find(text, { line: "build", hasFailed: true })).toEqual([rule]);
  });
}

test("every rule that a failure shows is found", () => {
  const output =
    "W: Not using locking for read only lock file /x\n  Temporary failure resolving 'deb.debian.org'\n";
  expect(find(output)).toEqual(["write", "network"]);
});

test("a program that finds nothing may be right where there is a network", () => {
  const [, ...lines] = FAILURES.pip ?? [];
  expect(lines.map((text) => find(text, { hasNetwork: true }).length)).toEqual([1, 0, 0, 0]);
});

/** A command, its exit code as `hasFailed`, and what it printed. */
const UNRELATED: readonly (readonly [string, boolean, string])[] = [
  [
    "grep -rn 'ECONNREFUSED|ENOTFOUND' src | head",
    false,
    'src/net.ts:12:  if (code === "ECONNREFUSED") retry();',
  ],
  ["rg ECONNREFUSED; rg nothing", true, "12:connect ECONNREFUSED 127.0.0.1:1"],
  ["cat pip.log | tail -3", false, "ERROR: No matching distribution found for left-pad"],
  ["sed -n 1,20p install.log; false", true, "npm error code EAI_AGAIN"],
  ["git log -3 | cat", false, "    fix: Could not resolve host"],
  ["git -C sub diff && git show", true, "+  // Read-only file system"],
  ["for f in *.log; do tail -1 $f; done", false, "curl: (6) Could not resolve host: a"],
  ["echo 'Temporary failure in name resolution'; exit 1", true, "nothing"],
  ["bun test", false, "retries after connect ECONNREFUSED 127.0.0.1:5432"],
  ["bun test 2>&1 | tail", false, "(pass) fetch > retries after ECONNREFUSED [1.2ms]"],
  ["cargo test | tail", false, "test net::refuses_when_network_is_unreachable ... ok"],
  ["npx vitest run | tail", false, " ✓ connects again after ECONNREFUSED 3ms"],
  ["pytest -q; true", false, "tests/test_net.py::test_connection_refused PASSED"],
  ["bun test", true, '  12 |   expect(error.message).toBe("connect ECONNREFUSED 127.0.0.1:1");'],
  ["bun test", true, '    throw new Error("Could not resolve host");'],
  ["tsc | head", true, "src/a.ts:4:7 - error TS2322: Type 'ENOTFOUND' is not assignable to 'EROFS'."],
  ["make | tail -2", false, "0 errors, 0 warnings"],
  ["python build.py; ls", false, "// EBUSY: Device or resource busy, see below"],
  ["node -p 1 | cat", false, "const SIGNS = /Network is unreachable/;"],
  ["eslint . | tail", true, "  3:1  error  Expected ENOTFOUND  no-restricted-syntax"],
  ["go test ./... | tail", false, "--- PASS: TestConnectionRefused (0.00s)"],
  ["cat README.md | grep docker", false, "Cannot connect to the Docker daemon means that it is not running."],
  ["jest | tail", true, "1 test failed: expected 3, received 4"],
];

test.each(UNRELATED)("the output of %s (failed: %p) shows no rule: %s", (line, hasFailed, output) => {
  expect(find(`before\n${output}\nbehind\n`, { line, hasFailed })).toEqual([]);
});

test("a program that prints files shows a rule by its own messages and those of the shell", () => {
  const line = "cat a > /etc/b";
  expect(find("bash: line 1: /etc/b: Read-only file system", { line, hasFailed: true })).toEqual(["write"]);
  expect(find("tree: /x: Read-only file system", { line, hasFailed: true })).toEqual([]);
});

test("common words count after a failure, or where something may hide the exit code", () => {
  const output = "Error: connect ECONNREFUSED 127.0.0.1:5432";
  expect(find(output, { line: "node app.js", hasFailed: true })).toEqual(["network"]);
  expect(find(output, { line: "node app.js | tail -5", hasFailed: false })).toEqual(["network"]);
  expect(find(output, { line: "node app.js; true", hasFailed: false })).toEqual(["network"]);
  expect(find(output, { line: "node app.js 'a | b'", hasFailed: false })).toEqual([]);
});
