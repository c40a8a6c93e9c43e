import packageJson from "../package.json" with { type: "json" };

/** This program's version, such as `0.1.0`; bundlers take it in at build time. */
export const VERSION: string = packageJson.version;
