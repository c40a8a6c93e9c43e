import { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";

// The bundler replaces `__filename` by the path at build time, and some packages have a `require` of their own. So a chunk
// takes both from the arguments of the function that Bun wraps around a CommonJS module. `import()` is not used between
// chunks, because its `default` is then all that a chunk exports.
const PROLOGUE =
  '"use strict";var __chunkRequire=arguments[1],__chunkPath=arguments[3],' +
  "__chunkImport=(path)=>Promise.resolve(path).then(__chunkRequire);";
const MODULE = (name: string) => `process.getBuiltinModule("node:${name}")`;

/** What CommonJS has for the properties of `import.meta` that the bundler leaves in a chunk. */
const IN_COMMONJS: Readonly<Record<string, string>> = {
  require: "require",
  dir: `${MODULE("path")}.dirname(__chunkPath)`,
  dirname: `${MODULE("path")}.dirname(__chunkPath)`,
  path: "__chunkPath",
  filename: "__chunkPath",
  url: `${MODULE("url")}.pathToFileURL(__chunkPath).href`,
};

// Larger ones hold what few sessions use, such as PDF and grammars of all languages, and their bytecode is as large.
const MAX_BYTES = 700_000;

/**
 * Compiles the chunks of a bundle, in place: a file then has its bytecode beside it (`NAME.js.jsc`), so that Bun does not
 * parse it. Bun writes bytecode only for CommonJS, and cannot split that, so this takes what it has split as ES modules.
 * Another version of Bun ignores the bytecode and reads the files.
 * @param directory contains nothing but chunks, which import each other by relative paths.
 * @throws Error, or AggregateError of the bundler, if a chunk cannot be compiled.
 */
export async function compileChunks(directory: string): Promise<void> {
  const compiled = `${directory}.compiled`;
  rmSync(compiled, { recursive: true, force: true });
  const paths = readdirSync(directory).map((name) => join(directory, name));
  const [large, small] = [true, false].map((isLarge) =>
    paths.filter((path) => statSync(path).size > MAX_BYTES === isLarge),
  );
  try {
    await compile(small ?? [], { from: directory, to: compiled, bytecode: true });
    await compile(large ?? [], { from: directory, to: compiled, bytecode: false });
    rmSync(directory, { recursive: true });
    renameSync(compiled, directory);
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

async function compile(
  entrypoints: string[],
  { from, to, bytecode }: { from: string; to: string; bytecode: boolean },
): Promise<void> {
  if (entrypoints.length === 0) return;
  await Bun.build({
    ...{ entrypoints, root: from, outdir: to, target: "bun", format: "cjs", bytecode },
    // Names are short already.
    minify: { whitespace: true },
    plugins: [keepSeparate(from)],
  });
}

/** Each chunk stays a file of its own, as strict as an ES module. */
function keepSeparate(directory: string): Bun.BunPlugin {
  return {
    name: "keep-separate",
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, importer }) =>
        importer === "" ? undefined : { path, external: true },
      );
      build.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const source = await Bun.file(join(directory, basename(path))).text();
        return { loader: "js", contents: PROLOGUE + toCommonJs(source, basename(path)) };
      });
    },
  };
}

function toCommonJs(source: string, name: string): string {
  return source
    .replace(/\bimport(?=\("\.\/[^"]+\.js"\))/g, "__chunkImport")
    .replace(/\bimport\.meta\b(?:\.(\w+))?/g, (property, key: string | undefined) => {
      const replacement = key === undefined ? undefined : IN_COMMONJS[key];
      if (replacement === undefined) throw new Error(`${name} has ${property}, which CommonJS does not have`);
      return replacement;
    });
}
