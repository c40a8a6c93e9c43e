import { NOWHERE, ParentFinder } from "./session-tree.ts";
import type { SessionEntry } from "./types.ts";

/** An entry with those that follow it; several where the conversation branches. */
export interface SessionTreeNode {
  entry: SessionEntry;
  /** In the order of the file. */
  children: SessionTreeNode[];
}

/**
 * The entries of a file as trees, one for each first entry. What has no parent that can be found stands where `pathTo`
 * takes it to stand; of entries that name each other as their ancestors the first one begins a tree. Children may go
 * thousands of levels deep: walk them with a stack.
 */
export function buildSessionTree(entries: readonly SessionEntry[]): SessionTreeNode[] {
  const parents = findParents(entries);
  const nodes = entries.map((entry): SessionTreeNode => ({ entry, children: [] }));
  return nodes.filter((node, position) => {
    const parent = nodes[parents[position] ?? NOWHERE];
    parent?.children.push(node);
    return parent === undefined;
  });
}

/** The position of each entry's parent, without circles. */
function findParents(entries: readonly SessionEntry[]): number[] {
  const finder = new ParentFinder(entries);
  const parents = entries.map((entry, position) => finder.parentOf(entry, position));
  const walks = new Int32Array(entries.length);
  for (let walk = 1; walk <= entries.length; walk++) {
    let position = walk - 1;
    while (walks[position] === 0) {
      walks[position] = walk;
      const parent = parents[position] ?? NOWHERE;
      if (walks[parent] === walk) parents[position] = NOWHERE;
      position = parent;
    }
  }
  return parents;
}
