import moneyModule from "./project/money.js.txt" with { type: "text" };
import moneyTest from "./project/money.test.js.txt" with { type: "text" };
import packageFile from "./project/package.json.txt" with { type: "text" };
import readme from "./project/readme.md.txt" with { type: "text" };
import receiptModule from "./project/receipt.js.txt" with { type: "text" };
import receiptTest from "./project/receipt.test.js.txt" with { type: "text" };
import splitModule from "./project/split.js.txt" with { type: "text" };
import splitTest from "./project/split.test.js.txt" with { type: "text" };

/** The name of the project's directory. */
export const SAMPLE_NAME = "split-the-bill";

/**
 * The files of the sample project by their path in it. They are stored as `.txt`, so that its test, which fails on
 * purpose, is none of this repository's, and imported as text, so that they are part of a bundle.
 */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "README.md": readme,
  "package.json": packageFile,
  "src/money.js": moneyModule,
  "src/receipt.js": receiptModule,
  "src/split.js": splitModule,
  "test/money.test.js": moneyTest,
  "test/receipt.test.js": receiptTest,
  "test/split.test.js": splitTest,
};
