import { CODEX } from "./codex.ts";
import { OPENCODE } from "./opencode.ts";
import type { Peer } from "./peer.ts";
import { PI } from "./pi.ts";

/** In the order in which they are measured and shown. */
export const PEERS: readonly Peer[] = [CODEX, PI, OPENCODE];
