/** Where a peer is installed and what it may use: all of it is thrown away afterwards. */
export interface PeerPlace {
  /** The directory that holds `node_modules`. */
  installed: string;
  /** A new home directory, for its settings. */
  home: string;
  /** The server on loopback that stands in for the services, without a path. */
  serverUrl: string;
}

/** How an installed peer is started: each a program with its arguments. */
export interface PeerCommands {
  version: readonly string[];
  /** One prompt without a screen. */
  print: readonly string[];
  /** Beyond what every program needs. */
  environment?: Readonly<Record<string, string>>;
}

/** A program that users could pick in place of diligent. */
export interface Peer {
  name: string;
  /** Package and exact version; what they install for this platform by themselves comes with them. */
  package: string;
  /** Which answers it expects of the server. */
  service: "anthropic" | "openai";
  /** Writes its settings, so that it asks the server on loopback and nobody else. */
  prepare(place: PeerPlace): PeerCommands;
}
