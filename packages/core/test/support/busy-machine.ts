/**
 * What a busy machine may take longer than a test allows, in milliseconds. A limit in a test tells what ends from what hangs,
 * and what grows with its input from what explodes; how fast things are is measured elsewhere.
 */
export const BUSY_MS = 15_000;
