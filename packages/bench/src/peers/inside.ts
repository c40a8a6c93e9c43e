import { Stage } from "../stage/stage.ts";
import { measurePeers } from "./compare-peers.ts";
import { PEERS } from "./peers.ts";

// Runs where there is no network but loopback: `inside.ts DIRECTORY RUNS NAME…` prints the figures as JSON. No runs means
// the usual number of them.

const [installed = "", runs = "0", ...names] = process.argv.slice(2);
using stage = new Stage({ runs: Number(runs) || undefined });
const peers = PEERS.filter(({ name }) => names.includes(name));
console.log(JSON.stringify(await measurePeers(stage, peers, installed)));
