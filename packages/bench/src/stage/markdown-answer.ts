/** An answer in Markdown of exactly so many characters, all ASCII: sections of what models write, no two alike. */
export function createMarkdownAnswer(chars: number): string {
  return repeat(createSection, chars);
}

/** The same in paragraphs without any Markdown. */
export function createProse(chars: number): string {
  return repeat(createParagraph, chars);
}

/** The same in code blocks that are longer than a screen. */
export function createCodeAnswer(chars: number): string {
  return repeat(createCodeBlock, chars);
}

const CODE_LINES = 60;

function repeat(create: (number: number) => string, chars: number): string {
  let answer = "";
  for (let number = 1; answer.length < chars; number++) answer += create(number);
  return answer.slice(0, chars);
}

function createParagraph(number: number): string {
  return `The loader of part ${number} reads each file once and keeps ${number * 7} entries in its table. Nothing else looks at \
them, so the order in which they come does not matter, and a file that is missing is only noticed when it is asked for. \
Whoever asks gets an error that names the file.

`;
}

function createCodeBlock(number: number): string {
  const lines = Array.from(
    { length: CODE_LINES },
    (_, line) => `  const value${line} = readPart(${number}, ${line}).filter((entry) => entry.isKnown);`,
  );
  return `This is part ${number}:\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n\n`;
}

function createSection(number: number): string {
  return `## Part ${number}: what was found

The **loader** of part ${number} reads each file once and keeps \`${number * 7}\` entries in its table. Nothing else looks at
them, so the order in which they come does not matter, and a file that is missing is only noticed when it is asked for.

- first the directory is read, which takes about ${number} ms
- then every entry is compared with the one before
    - entries that are equal are passed over
- at last the table is written, *once*

\`\`\`ts
export function readPart${number}(path: string): Entry[] {
  const lines = readFileSync(path, "utf8").split("\\n");
  return lines.filter((line) => line !== "").map((line) => parseEntry(line, ${number}));
}
\`\`\`

| file | lines | changed |
| --- | ---: | --- |
| src/part-${number}.ts | ${number * 13} | yes |
| src/part-${number + 1}.ts | ${number * 11} | no |

`;
}
