import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

/** A page as Markdown. */
export interface MarkdownPage {
  /** Empty if the page has none. */
  title: string;
  markdown: string;
}

// Above these limits the parser or the search for the article takes seconds, with nested elements quadratically.
const MAX_ARTICLE_CHARACTERS = 1_000_000;
const MAX_ARTICLE_TAGS = 15_000;
const MAX_DEPTH = 250;
// Less is a headline or a notice, not the article.
const MIN_ARTICLE_CHARACTERS = 200;

/**
 * Converts HTML to Markdown: the article if the page has one, otherwise the whole text. Links are absolute.
 *
 * @param url of the page
 */
export function htmlToMarkdown(html: string, url: string): MarkdownPage {
  return (isSimple(html) ? findArticle(html, url) : undefined) ?? convertWhole(html, url);
}

function isSimple(html: string): boolean {
  if (html.length > MAX_ARTICLE_CHARACTERS) return false;
  let tags = 0;
  let depth = 0;
  for (const [tag, slash] of html.matchAll(TAG)) {
    tags += 1;
    if (slash === "/") depth = Math.max(0, depth - 1);
    else if (!tag.endsWith("/")) depth += 1;
    if (tags > MAX_ARTICLE_TAGS || depth > MAX_DEPTH) return false;
  }
  return true;
}

// Not those that have no end tag, or mostly leave it out.
const TAG =
  /<(\/?)(?!(?:area|base|br|col|dd|dt|embed|hr|img|input|li|link|meta|option|p|source|td|th|tr|track|wbr)\b)[a-z][^\s>]*/gi;

function findArticle(html: string, url: string): MarkdownPage | undefined {
  const { document } = parseHTML(html);
  const title = toTitle(document.querySelector("title")?.textContent);
  // The library reads addresses of links as they are written.
  const base = toAbsolute(document.querySelector("base[href]")?.getAttribute("href") ?? "", url);
  for (const [selector, name] of LINKS) {
    for (const element of document.querySelectorAll(selector)) {
      const target = toAbsolute(element.getAttribute(name) ?? "", base);
      if (/^(?:https?|mailto):/i.test(target)) element.setAttribute(name, target);
      else element.removeAttribute(name);
    }
  }
  const article = readArticle(document);
  if (!article?.content || (article.textContent ?? "").trim().length < MIN_ARTICLE_CHARACTERS)
    return undefined;
  const turndown = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
  });
  addTables(turndown);
  turndown.addRule("image", {
    filter: "img",
    replacement: (_, node) => describeImage(node.getAttribute("alt")),
  });
  return { title: title || toTitle(article.title), markdown: turndown.turndown(article.content) };
}

const LINKS = [
  ["a[href]", "href"],
  ["img[src]", "src"],
] as const;

function readArticle(document: ConstructorParameters<typeof Readability>[0]) {
  try {
    return new Readability(document, { disableJSONLD: true }).parse();
  } catch {
    // A page without a body, or with elements where none are expected.
    return undefined;
  }
}

function describeImage(text: string | null): string {
  const alt = (text ?? "").replace(/\s+/g, " ").trim();
  return alt === "" ? "" : `[image: ${alt}]`;
}

/** One line for each row; the header row is underlined, which makes it a Markdown table. */
function addTables(turndown: TurndownService): void {
  turndown.addRule("cell", {
    filter: ["td", "th"],
    replacement: (content) =>
      ` ${content
        .trim()
        .replace(/\s*\n\s*/g, " ")
        .replaceAll("|", "\\|")} |`,
  });
  turndown.addRule("row", {
    filter: "tr",
    replacement(content, row) {
      const isFirst = row.parentNode?.firstChild === row && row.parentNode?.previousSibling === null;
      const cells = content.match(/ \|/g)?.length ?? 0;
      return `\n|${content.trimEnd()}${isFirst ? `\n|${" --- |".repeat(cells)}` : ""}`;
    },
  });
  turndown.addRule("table", { filter: "table", replacement: (content) => `\n\n${content.trim()}\n\n` });
  turndown.addRule("section", { filter: ["tbody", "thead", "tfoot"], replacement: (content) => content });
}

const BLOCKS =
  "address,article,aside,blockquote,body,dd,div,dl,dt,fieldset,figcaption,figure,footer,form,header,hr,main,nav,ol,p,section,table,tr,ul";
const REMOVED = "script,style,noscript,template,svg,iframe,object,canvas,select,button";

/** Without a tree of the page: the time grows with its length alone. */
function convertWhole(html: string, url: string): MarkdownPage {
  const page = new TextCollector();
  let title = "";
  const rewriter = new HTMLRewriter()
    .on("title", {
      element: (element) => {
        page.hide(element);
      },
      text: ({ text }) => {
        title += text;
      },
    })
    .on(REMOVED, { element: (element) => page.hide(element) })
    .on(BLOCKS, { element: (element) => page.surround(element, "\n", "\n") })
    .on("br", { element: () => page.add("\n") })
    .on("li", { element: (element) => page.surround(element, "\n- ", "") })
    .on("td,th", { element: (element) => page.surround(element, " ", " |") })
    .on("pre", { element: (element) => page.surround(element, "\n```\n", "\n```\n") })
    .on("a[href]", {
      element(element) {
        const target = toAbsolute(element.getAttribute("href") ?? "", url);
        if (/^https?:/i.test(target)) page.surround(element, "[", `](${target})`);
      },
    })
    .on("img[alt]", { element: (element) => page.add(describeImage(element.getAttribute("alt"))) });
  for (const level of [1, 2, 3, 4, 5, 6])
    rewriter.on(`h${level}`, {
      element: (element) => page.surround(element, `\n\n${"#".repeat(level)} `, "\n\n"),
    });
  rewriter.onDocument({ text: ({ text }) => page.add(decodeEntities(text)) }).transform(html);
  return { title: toTitle(title), markdown: page.text };
}

type RewrittenElement = HTMLRewriterTypes.Element;

/** Collects the visible text of a page. */
class TextCollector {
  private readonly pieces: string[] = [];
  private hiddenDepth = 0;

  add(text: string): void {
    if (this.hiddenDepth === 0) this.pieces.push(text);
  }

  hide(element: RewrittenElement): void {
    if (!this.canEnd(element)) return;
    this.hiddenDepth += 1;
    element.onEndTag(() => {
      this.hiddenDepth -= 1;
    });
  }

  surround(element: RewrittenElement, before: string, after: string): void {
    this.add(before);
    if (after !== "" && this.canEnd(element)) element.onEndTag(() => this.add(after));
  }

  get text(): string {
    const lines = this.pieces
      .join("")
      .split("\n")
      .map((line) => line.replace(/[ \t\r\f]+/g, " ").trimEnd());
    return lines
      .join("\n")
      .replace(/\n(?:[ ]*\n)+/g, "\n\n")
      .trim();
  }

  private canEnd({ selfClosing, canHaveContent }: RewrittenElement): boolean {
    return canHaveContent && !selfClosing;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function toTitle(text: string | null | undefined): string {
  return decodeEntities(text ?? "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 300);
}

/** As it is written if it is no address. */
function toAbsolute(target: string, base: string): string {
  return URL.parse(target, base)?.href ?? target;
}
