import type { CommandPattern } from "./types.ts";

/** What one name of a tool stands for: its programs, and how other programs start it. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  npm: ["npm", "npx"],
  yarn: ["yarn", "yarnpkg"],
  pnpm: ["pnpm", "pnpx"],
  bun: ["bun", "bunx"],
  pip: ["pip", "pip3", "python -m pip", "uv pip"],
  python: ["python", "python3"],
  pytest: ["pytest", "py.test", "python -m pytest"],
  unittest: ["python -m unittest"],
  mypy: ["mypy", "python -m mypy"],
  black: ["black", "python -m black"],
  docker: ["docker", "podman"],
  "docker-compose": ["docker-compose", "docker compose"],
  vim: ["vim", "vi", "nvim"],
  sudo: ["sudo", "doas"],
  make: ["make", "gmake"],
  tsc: ["tsc"],
  maven: ["mvn", "mvnw"],
  gradle: ["gradle", "gradlew"],
};

/** Tools of which a project uses one: to use one of them means not to use the others. */
const FAMILIES: readonly (readonly string[])[] = [
  ["npm", "yarn", "pnpm", "bun"],
  ["pip", "poetry", "uv", "pipenv", "pdm", "conda"],
  ["jest", "vitest", "mocha", "ava"],
  ["maven", "gradle"],
];

/** Programs that a sentence may name without marks of code. */
const PROGRAMS: ReadonlySet<string> = new Set(
  (
    "npm npx yarn pnpm pnpx bun bunx deno node tsx pip pip3 pipx poetry pipenv pdm conda uv uvx rye hatch python python3 " +
    "pytest unittest tox nox mypy ruff flake8 black isort pylint cargo rustc rustup rustfmt go gofmt golangci-lint " +
    "git gh glab hub svn hg jj make gmake cmake ninja bazel just task rake bundle gem rails rspec rubocop composer php artisan phpunit " +
    "mvn mvnw maven gradle gradlew ant sbt dotnet nuget msbuild swift xcodebuild pod flutter dart mix elixir iex " +
    "docker docker-compose podman kubectl helm terraform tofu pulumi ansible ansible-playbook vagrant " +
    "aws gcloud az vercel netlify fly flyctl heroku wrangler firebase supabase psql mysql sqlite3 mongo mongosh redis-cli prisma " +
    "curl wget ssh scp rsync nc telnet sudo doas su rm rmdir mv cp dd chmod chown kill pkill killall sed awk perl ruby find grep rg ag fd " +
    "cat head tail less more vim vi nvim nano emacs tmux screen nohup xargs tee eslint prettier biome tsc jest vitest mocha ava karma " +
    "playwright cypress webpack vite rollup esbuild turbo nx lerna rush tsup next expo brew apt apt-get yum dnf pacman snap " +
    "crontab systemctl service shutdown reboot mkfs eval source gpg openssl base64 husky lefthook pre-commit changeset twine"
  ).split(" "),
);

/** Words that are also English, or names of languages: only code or other words around them make them programs. */
const ENGLISH: ReadonlySet<string> = new Set(
  "make go node find more less head tail cat task just next fly service screen source service swift dart python ruby php perl tee snap ant mix expo husky rush hub su kill black hatch rye".split(
    " ",
  ),
);

/** @returns true for the name of a program; in text without marks of code, the English words are not meant. */
export function isProgram(name: string, isCode: boolean): boolean {
  const program = name.replace(/^(?:\.\/|.*\/bin\/)/, "").toLowerCase();
  return PROGRAMS.has(program) && (isCode || !ENGLISH.has(program));
}

/** The calls that a command's words stand for, such as `pip install` also for `pip3` and `python -m pip`. */
export function toPatterns(words: readonly string[]): CommandPattern[] {
  const [first = "", ...rest] = words;
  const name = first.replace(/^\.\//, "");
  const known = (Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined) ?? [name];
  // Programs that only run packages have no subcommands.
  const programs =
    rest.length === 0 ? known : known.filter((program) => !/x$/.test(program) || program === name);
  const options = rest.filter((word) => word.startsWith("-") && word !== "--" && word !== "-m");
  const operands: string[] = [];
  for (const [index, word] of rest.entries()) {
    if (word === "-m" && /^python/.test(name)) operands.push(word, rest[index + 1] ?? "");
    else if (!word.startsWith("-") && rest[index - 1] !== "-m") operands.push(word);
  }
  return programs.map((program) => ({
    words: [...program.split(" "), ...operands],
    ...(options.length > 0 && { options }),
  }));
}

/** The other tools of the same family, as calls; undefined if it has none. */
export function findOthers(tool: string): CommandPattern[] | undefined {
  const family = FAMILIES.find((names) => names.includes(tool));
  const others = family?.filter((name) => name !== tool).flatMap((name) => toPatterns([name]));
  return others?.filter(({ words: [program] }) => program !== tool);
}

const call = (text: string, options?: string): CommandPattern => ({
  words: text.split(" "),
  ...(options !== undefined && { options: options.split(" ") }),
});

export const FORCE_PUSH: readonly CommandPattern[] = [
  call("git push", "--force -f --force-with-lease --force-if-includes --mirror"),
];
export const SKIPPED_HOOKS: readonly CommandPattern[] = [
  { words: [], options: ["--no-verify"] },
  call("git commit", "-n"),
  { words: [], options: ["core.hooksPath"] },
  // What the programs that run hooks read: husky, lefthook, pre-commit.
  { words: ["git"], options: ["HUSKY=0", "HUSKY_SKIP_HOOKS=", "LEFTHOOK=0", "LEFTHOOK=false", "SKIP="] },
];
export const PUSH: readonly CommandPattern[] = [
  call("git push"),
  call("git send-pack"),
  call("git subtree push"),
  call("git lfs push"),
];
const PUBLISH = ["npm", "yarn", "pnpm", "bun", "cargo", "poetry", "uv", "hatch", "flit", "lerna", "vsce"].map(
  (program) => call(`${program} publish`),
);

/** The name of a branch or a tag makes one, unless an option asks for something else. */
export const NEW_BRANCH: CommandPattern = {
  ...call("git branch"),
  needsOperand: true,
  unlessOptions: (
    "-d -D --delete -m -M --move -l --list -a --all -r --remotes --contains --no-contains --merged --no-merged --points-at " +
    "--show-current -u --set-upstream-to --unset-upstream --edit-description"
  ).split(" "),
};
const NEW_TAG: CommandPattern = {
  ...call("git tag"),
  needsOperand: true,
  unlessOptions:
    "-d --delete -l --list -n -v --verify --contains --no-contains --merged --no-merged --points-at".split(
      " ",
    ),
};

/** What can be said of actions in words, after a prohibition; the first that fits counts. */
export const WORDED_ACTIONS: readonly (readonly [RegExp, readonly CommandPattern[]])[] = [
  [/^(?:force[- ]?push|push (?:with |using )?(?:--force|force)|git push --force)(?:es|ing)?$/, FORCE_PUSH],
  [/^(?:git )?push(?:es|ing)?$/, PUSH],
  [/^(?:git )?(?:make |create |create new )?commits?$/, [call("git commit")]],
  [
    /^(?:use )?(?:git )?(?:amend|commit --amend)(?: (?:to )?(?:existing |previous |published )?commits)?$/,
    [call("git commit", "--amend")],
  ],
  [/^(?:git )?(?:rebase|rebasing)$/, [call("git rebase"), call("git pull", "--rebase -r")]],
  [/^(?:squash)(?: commits)?$/, [call("git merge", "--squash"), call("git rebase")]],
  [
    /^(?:rewrite|rewriting|change|alter) (?:the )?(?:git |commit |published |public )?history$/,
    [
      call("git rebase"),
      call("git commit", "--amend"),
      call("git filter-branch"),
      call("git filter-repo"),
      ...FORCE_PUSH,
    ],
  ],
  [/^(?:use )?(?:git )?stash(?:es)?$/, [call("git stash")]],
  [/^(?:create|use|make|add|push) (?:git )?(?:worktrees?)$/, [call("git worktree")]],
  [/^(?:create|make|add|push) (?:new )?(?:git )?tags?$/, [NEW_TAG, call("git push", "--tags --follow-tags")]],
  [/^(?:create|make|publish|cut) (?:new )?(?:github )?releases?$/, [call("gh release create")]],
  [
    /^(?:create|make|open|start) (?:new )?(?:git )?branch(?:es)?$/,
    [
      call("git checkout", "-b -B --orphan"),
      call("git switch", "-c -C --create --force-create --orphan"),
      call("git worktree add", "-b -B --orphan"),
      call("git stash branch"),
      { ...call("git update-ref", "refs/heads/"), unlessOptions: ["-d"] },
      NEW_BRANCH,
    ],
  ],
  [
    /^(?:delete|remove) (?:any )?(?:remote |local |git )?branch(?:es)?$/,
    [call("git branch", "-d -D --delete"), call("git push", "-d --delete")],
  ],
  [
    /^(?:open|create|make|submit) (?:a |any )?(?:new )?(?:pull requests?|prs?|merge requests?)$/,
    [call("gh pr create"), call("glab mr create"), call("hub pull-request")],
  ],
  [
    /^merge (?:a |any )?(?:pull requests?|prs?|merge requests?)$/,
    [call("gh pr merge"), call("glab mr merge")],
  ],
  [/^(?:git )?merge(?: branches)?$/, [call("git merge")]],
  [/^(?:hard[- ]reset|reset --hard|use reset --hard)$/, [call("git reset", "--hard")]],
  [
    /^(?:discard|revert|throw away) (?:uncommitted|local|unstaged) changes$/,
    [call("git reset", "--hard"), call("git restore"), call("git checkout", "--"), call("git clean")],
  ],
  [
    /^(?:skip|bypass|disable|circumvent|ignore|work around|evade) (?:the |any )?(?:git |pre-commit |commit |pre-push |husky )*(?:hooks?|checks|verification)(?: (?:with|using|via|through|by (?:using|passing|adding)) (?:the )?(?:git commit )?(?:--no-verify|-n|husky=0)(?: (?:flag|option|switch))?)?$/,
    SKIPPED_HOOKS,
  ],
  [
    /^(?:skip|bypass|disable) (?:the )?(?:commit |gpg )*sign(?:ing|atures?)$/,
    [{ words: [], options: ["--no-gpg-sign", "commit.gpgsign=false"] }],
  ],
  [
    /^(?:publish|release)(?: (?:to npm|(?:the |any )?packages?|(?:the |any )?crates?|to pypi|a new version|new versions))?$/,
    [
      ...PUBLISH,
      call("twine upload"),
      call("gem push"),
      call("changeset publish"),
      call("dotnet nuget push"),
    ],
  ],
  [
    /^(?:start|run|launch|spin up) (?:the |a |any )?(?:local )?(?:dev|development)(?: |-)?servers?$/,
    [
      ...["npm", "yarn", "pnpm", "bun"].flatMap((program) =>
        ["dev", "start", "serve", "run dev", "run start", "run serve"].map((script) =>
          call(`${program} ${script}`),
        ),
      ),
      ...[
        "next dev",
        "vite dev",
        "vite serve",
        "nuxt dev",
        "astro dev",
        "rails server",
        "rails s",
        "webpack serve",
        "webpack-dev-server",
        "deno task dev",
        "flask run",
      ].map((text) => call(text)),
    ],
  ],
  [
    /^(?:use |run |require )?(?:sudo|root|superuser)(?: commands| privileges| rights| access)?$/,
    toPatterns(["sudo"]),
  ],
  [/^run (?:any )?(?:commands )?(?:as root|with sudo)$/, toPatterns(["sudo"])],
  [/^(?:use|run|execute) (?:any )?git(?: commands)?$/, [call("git")]],
  [/^(?:use|run) rm -rf$/, [call("rm", "-rf")]],
  [/^(?:delete|remove) (?:directories|folders) recursively$/, [call("rm", "-r -R --recursive")]],
];
