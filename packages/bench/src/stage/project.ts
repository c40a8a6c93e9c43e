import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "./scratch.ts";

/** How many source files the project has. */
export const SOURCE_FILES = 50;

const LINES = 40;

/** The path of a source file in the project, from 0 on. */
export function sourcePath(index: number): string {
  return `src/part-${index % SOURCE_FILES}.ts`;
}

/** A line that stands once in each source file; the number is 0 at first.. */
export function versionLine(round: number): string {
  return `export const version = ${round};`;
}

/** A new small project under version control. */
export function createProject(scratch: Scratch): string {
  const project = scratch.makeDirectory("project");
  fillProject(project);
  return project;
}

/** Makes a directory a small project under version control. */
export function fillProject(project: string): void {
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
  mkdirSync(join(project, "src"));
  for (let index = 0; index < SOURCE_FILES; index++) {
    writeFileSync(join(project, sourcePath(index)), sourceText(index));
  }
}

function sourceText(index: number): string {
  const lines = Array.from(
    { length: LINES },
    (_, line) => `export const value${line} = ${index * LINES + line};`,
  );
  return `${[versionLine(0), ...lines].join("\n")}\n`;
}
