/** The text of a notebook as Jupyter writes it, with these cells. */
export function createNotebook(cells: readonly object[], indent: string | number = 1): string {
  const metadata = { kernelspec: { name: "python3", display_name: "Python 3" } };
  return `${JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, indent)}\n`;
}

/** A code cell with the lines of its source. */
export function codeCell(id: string, source: string, outputs: readonly object[] = []): object {
  const lines = source === "" ? [] : source.split(/(?<=\n)/);
  return { cell_type: "code", execution_count: 1, id, metadata: {}, outputs, source: lines };
}

export function markdownCell(id: string, source: string): object {
  return { cell_type: "markdown", id, metadata: {}, source: source.split(/(?<=\n)/) };
}

export function streamOutput(text: string): object {
  return { name: "stdout", output_type: "stream", text: text.split(/(?<=\n)/) };
}
