import { connect, createServer, type Socket } from "node:net";

export interface ForwardProxy extends AsyncDisposable {
  url: string;
  /** The first line of each request, such as `CONNECT api.example.test:443 HTTP/1.1`. */
  requests: string[];
}

/** A loopback proxy that forwards everything to one port of this machine, whatever host is requested. */
export async function startForwardProxy(targetUrl: string): Promise<ForwardProxy> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // The other side may close the connection at any time.
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client).once("data", (head: Buffer) => {
      const [line = ""] = head.toString("latin1").split("\r\n", 1);
      requests.push(line);
      const target = keep(connect(Number(new URL(targetUrl).port), "127.0.0.1"));
      if (line.startsWith("CONNECT ")) client.write("HTTP/1.1 200 OK\r\n\r\n");
      else target.write(toOriginForm(head));
      client.pipe(target).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server gets a path in the request line, a proxy a whole address. */
function toOriginForm(head: Buffer): Buffer {
  return Buffer.from(head.toString("latin1").replace(/^(\S+) \w+:\/\/[^/\s]+/, "$1 "), "latin1");
}
