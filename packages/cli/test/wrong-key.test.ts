import { expect, test } from "bun:test";
import { errorReply, startSseServer } from "../../core/test/support/sse-server.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject } from "./support/temporary-project.ts";
import { environmentFor, SERVICES } from "./support/vendor-service.ts";

test.each(SERVICES)(
  "a key that $name refuses is reported at once, on one line with the variable to check, and once",
  async (service) => {
    const place = createTemporaryProject();
    await using server = await startSseServer(errorReply(401, "authentication_error", "invalid key"));
    const environment = environmentFor(service, server.url);
    const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", "go"], { environment });
    expect([stdout, exitCode, server.requests.length]).toEqual(["", 1, 1]);
    expect(stderr).toMatch(
      /^diligent: 127\.0\.0\.1:\d+ answered 401: authentication_error: invalid key \(.*\)\. .*\n$/,
    );
    expect(stderr).toEndWith(
      `(check ${service.keyVariable}). Store another key with /login or diligent login; a variable that is set overrides it.\n`,
    );
    place.remove();
  },
);
