import { describe, expect, test } from "bun:test";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";
import { createPdf, createPdfBomb } from "../support/pdf-documents.ts";

describe("read shows a PDF", () => {
  test("as the text of its pages with their numbers, whatever its name is", async () => {
    const files = makeFileWorkspace();
    files.put("a.bin", createPdf(["First page", "", "Third page"]));
    const { output } = await files.read({ file_path: "a.bin" });
    const lines = ["--- page 1 ---", "First page", "", "--- page 2 ---", "(no text)", "", "--- page 3 ---"];
    const numbered = [...lines, "Third page"].map((line, index) => `${index + 1}\t${line}`).join("\n");
    expect(output).toBe(`${numbered}\n(The text of a PDF of 3 pages.)`);
    const page = await files.read({ file_path: "a.bin", offset: 4, limit: 2 });
    expect(page.output).toStartWith("4\t--- page 2 ---\n5\t(no text)\n(Lines 4-5 shown; more follow.");
  });

  test("up to a page that would take too much memory", async () => {
    const files = makeFileWorkspace();
    files.put("bomb.pdf", await createPdfBomb(300_000_000, ["Before it"]));
    const { output } = await files.read({ file_path: "bomb.pdf" });
    expect(output).toStartWith("1\t--- page 1 ---\n2\tBefore it\n");
    expect(output).toMatch(/of 2 pages, of which 1 were read: it takes too much (?:memory|time)/);
  }, 60_000);

  test("not if it is damaged; a text that only mentions the format is a text", async () => {
    const files = makeFileWorkspace();
    files.put("a.pdf", createPdf(["One"]).slice(0, 60));
    expect(await failure(files.read({ file_path: "a.pdf" }))).toContain("as a PDF:");
    files.put("a.txt", "A document begins with %PDF-1.4.\n");
    expect((await files.read({ file_path: "a.txt" })).output).toBe("1\tA document begins with %PDF-1.4.");
  });
});
