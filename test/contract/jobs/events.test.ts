import { describe } from "vitest";
import { contractServer } from "../contract-server.ts";

// The refusals of the event stream. test/engine/jobs/events.test.ts tests its events, because the stream does not end.
const { transcript } = contractServer();

for (const mount of ["", "/geowebcache"]) {
  transcript(
    `HEAD of the events under "${mount}" has the type of the stream and no length`,
    `
    > HEAD ${mount}/api/v1/events
    < 200 text/event-stream
    < Content-Length: {absent}
    < X-Accel-Buffering: no
  `,
  );
}

describe("refusals", () => {
  transcript(
    "an unknown layer",
    "\n> GET /api/v1/events?layer=no:such\n< 404 application/problem+json\n<\n< {any}unknown_layer{any}",
  );
  transcript(
    "a job that is no id",
    '\n> GET /api/v1/events?job=x\n< 400 application/problem+json\n<\n< {any}"detail":"job: expected the id of a job, got \\"x\\""{any}',
  );
  transcript(
    "a type that does not exist",
    '\n> GET /api/v1/events?types=job,jobs\n< 400 application/problem+json\n<\n< {any}"detail":"types: expected a list of job, tiles, truncation, schedule, upstream, quota, configuration, activity, got \\"job,jobs\\""{any}',
  );
  transcript(
    "another method",
    "\n> POST /api/v1/events\n< 405 application/problem+json\n< Allow: GET, HEAD, OPTIONS\n<\n< {any}GET, HEAD, OPTIONS{any}",
  );
});
