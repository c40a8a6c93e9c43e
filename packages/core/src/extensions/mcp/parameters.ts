import { z } from "zod";

/** The arguments of a server's tool; the server itself checks them. */
export const serverToolParameters = z.looseObject({});

export const toolSearchParameters = z.object({ query: z.string() });

export const serverCallParameters = z.object({
  tool: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
});

export const resourceParameters = z.object({ server: z.string(), uri: z.string().optional() });

export type ToolSearchParameters = typeof toolSearchParameters;
export type ServerCallParameters = typeof serverCallParameters;
export type ResourceParameters = typeof resourceParameters;
