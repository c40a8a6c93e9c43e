import { describe, expect, test } from "bun:test";
import { readPdfText } from "../../src/infrastructure/text/pdf.ts";
import { createPdf, createPdfBomb, createPdfOfContents } from "../support/pdf-documents.ts";

const LIMITS = { timeoutMs: 55_000, maxCharacters: 1_000_000 };

describe("readPdfText()", () => {
  test("returns the text of each page from the first that is wanted", async () => {
    const document = createPdf(["One", "Two", "Three"]);
    expect(await readPdfText(document, LIMITS)).toEqual({ pages: ["One", "Two", "Three"], pageCount: 3 });
    expect(await readPdfText(document, { ...LIMITS, firstPage: 2 })).toEqual({
      pages: ["Two", "Three"],
      pageCount: 3,
    });
    // Reading leaves the bytes as they are.
    expect(document.length).toBeGreaterThan(500);
  });

  test("stops after the page that exceeds the limit of characters", async () => {
    const document = createPdf(["a".repeat(100), "b".repeat(100), "c"]);
    const { pages, pageCount } = await readPdfText(document, { ...LIMITS, maxCharacters: 150 });
    expect([pages.length, pageCount]).toEqual([2, 3]);
  });

  test("returns the pages before one that expands to more memory than is allowed", async () => {
    const document = await createPdfBomb(300_000_000, ["Before the bomb"]);
    expect(document.length).toBeLessThan(1_000_000);
    const before = process.memoryUsage.rss();
    const { pages, problem } = await readPdfText(document, LIMITS);
    expect(pages).toEqual(["Before the bomb"]);
    expect(problem).toMatch(/^it takes too much (?:memory|time)$/);
    expect(process.memoryUsage.rss() - before).toBeLessThan(600_000_000);
  }, 60_000);

  test("ends a document that takes too long, while this program stays responsive", async () => {
    const document = await createPdfBomb(300_000_000);
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 10);
    try {
      const reading = readPdfText(document, { ...LIMITS, timeoutMs: 500 });
      await expect(reading).rejects.toThrow("it takes too much");
      expect(ticks).toBeGreaterThan(5);
    } finally {
      clearInterval(timer);
    }
  }, 60_000);

  test("ends when it is stopped", async () => {
    const controller = new AbortController();
    const reading = readPdfText(await createPdfBomb(300_000_000), { ...LIMITS, signal: controller.signal });
    controller.abort();
    await expect(reading).rejects.toThrow("it was stopped");
  });

  test("reads at most 1,000 pages, however many the document claims to have", async () => {
    const content = [Buffer.from("BT /F1 12 Tf (only) Tj ET")];
    const { pages, pageCount, problem } = await readPdfText(
      createPdfOfContents(content, { claimedPages: 1_000_000_000 }),
      LIMITS,
    );
    expect(pages).toEqual(["only"]);
    expect(pageCount === 1 || problem !== undefined).toBe(true);
    const many = createPdfOfContents(Array.from({ length: 1_002 }, () => content[0] ?? Buffer.of()));
    const { pages: first, pageCount: count } = await readPdfText(many, LIMITS);
    expect([first.length, count]).toEqual([1_000, 1_002]);
  }, 60_000);

  test("rejects what is damaged or no document", async () => {
    for (const bytes of [Buffer.from("%PDF-1.4 nothing"), createPdf(["One"]).slice(0, 60)])
      await expect(readPdfText(bytes, LIMITS)).rejects.toThrow();
  });
});
