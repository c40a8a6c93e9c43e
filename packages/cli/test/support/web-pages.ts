import { createPdf } from "../../../core/test/support/pdf-documents.ts";

const SENTENCE = "This is a sentence of the article, long enough, with commas, to be found. ";
const ARTICLE = `<html><head><title>The guide</title></head><body><nav>Menu</nav><article><h1>Guide</h1>
${`<p>${SENTENCE.repeat(3)}</p>`.repeat(4)}<canvas></canvas></article></body></html>`;

/** A server on this machine with the pages `/guide` (HTML), `/paper` (PDF) and `/away` (a redirect to another port). */
export function servePages(): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      switch (new URL(request.url).pathname) {
        case "/guide":
          return new Response(ARTICLE, { headers: { "content-type": "text/html" } });
        case "/paper":
          return new Response(createPdf(["The first page", "The second page"]), {
            headers: { "content-type": "application/pdf" },
          });
        case "/away":
          return Response.redirect("http://127.0.0.1:1/", 302);
        default:
          return new Response("There is no such page.", { status: 404 });
      }
    },
  });
}

/** A rule that allows pages of a server. */
export function allowPages({ port }: Bun.Server<undefined>): object {
  return { permissions: [{ permission: "fetch", pattern: `127.0.0.1:${port}`, action: "allow" }] };
}

/** A script of a model that reads these pages one after the other. */
export function readPages(addresses: readonly string[]): object {
  const turns = addresses.map((url) => ({ toolCalls: [{ name: "web_fetch", input: { url } }] }));
  return { version: 1, turns: [...turns, { text: "Done." }] };
}
