import { createHash } from "node:crypto";
import { PAGE_STYLES } from "./page-styles.ts";

/** Text that is HTML already: everything else is escaped. */
export type Html = { readonly html: string };

/** The text as it is, with nothing in it that a browser interprets. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

// Control characters have no meaning in a page; those that change the direction of text can make it look like another.
function visible(text: string): string {
  return text.toWellFormed().replace(HIDDEN, "\ufffd");
}

const HIDDEN = /(?![\t\n\r])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Builds HTML: strings and numbers are escaped, `Html` and lists of it are inserted. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[] | undefined)[]
): Html {
  const text = parts.reduce((sum, part, index) => {
    const value = values[index - 1];
    return sum + toHtmlText(value) + part;
  });
  return { html: text };
}

function toHtmlText(value: string | number | Html | readonly Html[] | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return escapeHtml(value);
  if (typeof value === "number") return String(value);
  return "html" in value ? value.html : value.map((each) => each.html).join("");
}

/** HTML that was made elsewhere and is known to be safe. */
export function trusted(text: string): Html {
  return { html: text };
}

/**
 * A whole page: one file without script, that loads nothing. The policy allows this style sheet and images in the page,
 * and nothing else, whatever the content is.
 */
export function toPage({ title, body }: { title: string; body: Html }): string {
  const hash = createHash("sha256").update(PAGE_STYLES).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `${
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trusted(PAGE_STYLES)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${body}
</body>
</html>`.html
  }\n`;
}
