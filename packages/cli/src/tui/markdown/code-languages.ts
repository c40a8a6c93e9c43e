/** Names that the highlighter has. One that it does not know makes it write to stderr; none at all makes it try every language. */
export const HIGHLIGHTED_LANGUAGES: ReadonlySet<string> = new Set(
  (
    "bash sh shell zsh console c h cpp cc c++ hpp cs csharp clojure clj cmake coffeescript css scss less dart diff patch " +
    "dockerfile docker elixir elm erlang erl fortran fsharp go golang gradle groovy handlebars haskell hs html xhtml http " +
    "ini java javascript js jsx mjs cjs json julia kotlin kt latex tex lisp lua makefile mk make markdown md matlab nginx " +
    "nix objectivec objc ocaml ml perl pl php powershell ps1 properties protobuf python py r rb ruby rs rust scala scheme " +
    "sql svg swift toml tcl typescript ts tsx vb vim xml yaml yml"
  ).split(" "),
);

/** Names that the highlighter does not have, with the nearest it has. */
const NEAREST: ReadonlyMap<string, string> = new Map(
  Object.entries({
    cts: "ts",
    dotenv: "ini",
    env: "ini",
    ex: "elixir",
    exs: "elixir",
    json5: "json",
    jsonc: "json",
    jsonl: "json",
    mts: "ts",
    ndjson: "json",
    proto: "protobuf",
    python3: "python",
    svelte: "html",
    vue: "html",
  }),
);

/** The highlighter's name for what follows a code fence, such as `ts title="a.ts"`; undefined where it knows none. */
export function findLanguage(info: string): string | undefined {
  const name = /^[^\s,:{]*/.exec(info.trim().toLowerCase())?.[0] ?? "";
  return HIGHLIGHTED_LANGUAGES.has(name) ? name : NEAREST.get(name);
}
