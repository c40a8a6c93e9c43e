import { resolve } from "node:path";
import grammarPath from "tree-sitter-bash/tree-sitter-bash.wasm" with { type: "file" };
import { Language, type Node, Parser } from "web-tree-sitter";
import runtimePath from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" };

/** Half-open, in UTF-16 units of the text. */
interface TextSpan {
  start: number;
  end: number;
}

/** A command, test or declaration that the grammar found; the span is that of the whole. */
interface GrammarCommand extends TextSpan {
  /** Its words, the program's name first; a `[ … ]` has none. */
  words: TextSpan[];
}

/** What the grammar of bash makes of a text. */
export interface GrammarReading {
  /** True when the grammar could not make sense of all of it. */
  hasError: boolean;
  /** The kinds of everything that is named in it, such as `pipeline` or `command_substitution`. */
  kinds: ReadonlySet<string>;
  /** Every command wherever it stands, also inside substitutions and functions, in the order of the text. */
  commands: GrammarCommand[];
}

/** Reads a text as bash would; never throws. */
export type ReadGrammar = (text: string) => GrammarReading;

/**
 * Loads the grammar, which takes some 50 ms; this module is therefore imported when the first command is looked at,
 * never at start.
 */
export async function loadBashGrammar(): Promise<ReadGrammar> {
  const parser = await loadParser();
  return (text) => {
    const tree = parser.parse(text);
    if (!tree) return { hasError: true, kinds: new Set(), commands: [] };
    try {
      return toReading(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
}

/** A node of the syntax tree. */
export interface SyntaxNode {
  /** As the grammar names it, such as `command`; for a token its text. */
  kind: string;
  /** What it is to its parent, such as `body`. */
  field?: string;
  text: string;
  /** Half-open, in UTF-16 units of the text. */
  start: number;
  children: SyntaxNode[];
}

/** Reads the whole tree of a text; `hasError` as in `GrammarReading`. Never throws. */
export type ReadSyntax = (text: string) => { root: SyntaxNode; hasError: boolean };

/** Loads the grammar like `loadBashGrammar`, for those that need more than the commands. */
export async function loadBashSyntax(): Promise<ReadSyntax> {
  const parser = await loadParser();
  return (text) => {
    const tree = parser.parse(text);
    if (!tree) return { root: { kind: "program", text, start: 0, children: [] }, hasError: true };
    try {
      return { root: copyTree(tree.rootNode), hasError: tree.rootNode.hasError };
    } finally {
      tree.delete();
    }
  };
}

async function loadParser(): Promise<Parser> {
  const runtime = Parser.init({ locateFile: () => toAbsolute(runtimePath) });
  const [bytes] = await Promise.all([Bun.file(toAbsolute(grammarPath)).bytes(), runtime]);
  const parser = new Parser();
  parser.setLanguage(await Language.load(bytes));
  return parser;
}

/** With a cursor, like `toReading`. */
function copyTree(root: Node): SyntaxNode {
  const cursor = root.walk();
  const open: SyntaxNode[] = [];
  let top: SyntaxNode | undefined;
  try {
    for (;;) {
      const field = cursor.currentFieldName;
      const node: SyntaxNode = {
        kind: cursor.nodeType,
        text: cursor.nodeText,
        start: cursor.startIndex,
        children: [],
        ...(field && { field }),
      };
      top ??= node;
      open.at(-1)?.children.push(node);
      if (cursor.gotoFirstChild()) {
        open.push(node);
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return top;
        open.pop();
      }
    }
  } finally {
    cursor.delete();
  }
}

/** From the sources the path is absolute; in a bundle it is relative to the file this has become a part of. */
function toAbsolute(path: string): string {
  return resolve(import.meta.dir, path);
}

/** Goes through the tree with a cursor: a long chain is as deep as it has parts. */
function toReading(root: Node): GrammarReading {
  const kinds = new Set<string>();
  const commands: GrammarCommand[] = [];
  const cursor = root.walk();
  const open: (GrammarCommand | undefined)[] = [];
  try {
    for (;;) {
      const parent = open.at(-1);
      const span = { start: cursor.startIndex, end: cursor.endIndex };
      if (cursor.nodeIsNamed) kinds.add(cursor.nodeType);
      if (parent && cursor.nodeIsNamed) parent.words.push(span);
      const command = isCommand(cursor.nodeType, cursor.nodeIsNamed) ? { ...span, words: [] } : undefined;
      if (command) commands.push(command);
      if (cursor.gotoFirstChild()) {
        open.push(command);
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return { hasError: root.hasError, kinds, commands };
        open.pop();
      }
    }
  } finally {
    cursor.delete();
  }
}

function isCommand(kind: string, isNamed: boolean): boolean {
  return isNamed && (kind === "command" || kind === "test_command" || kind === "declaration_command");
}
