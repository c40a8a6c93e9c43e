import { expect, test } from "bun:test";
import { measureFunctions } from "./support/function-lengths.ts";

test("functions, methods and named arrow functions are measured, statements and calls are not", () => {
  const source = `export async function load(): Promise<void> {
  if (true) {
    call({
      a: 1,
    });
  }
}

class Place {
  constructor(
    private readonly path: string,
  ) {
    super();
  }

  private *read<T>(text: T): Generator<T> {
    yield text;
  }
}

const place = {
  find(
    text: string,
  ) {
    return text;
  },
};

const add = (left: number) => {
  return left;
};
`;
  expect(measureFunctions(source)).toEqual([
    { line: 1, name: "load", lines: 7 },
    { line: 10, name: "constructor", lines: 5 },
    { line: 16, name: "*read", lines: 3 },
    { line: 22, name: "find", lines: 5 },
    { line: 29, name: "add", lines: 3 },
  ]);
});
