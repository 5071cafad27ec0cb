import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// Issue 6: jobs are made, paused, resumed, cancelled, retried and forgotten over /api/v1; the classic list stays as it is.
const { transcript } = contractServer({ configuration: (url) => layers(url), hanging: true, before: KILL_ALL });

const CREATE = '{"layer":"ws:roads","gridSet":"EPSG:4326","bounds":[0,0,10,10],"zoomStop":3,"threadCount":2}';

for (const mount of ["", "/geowebcache"]) {
  transcript(
    `a job is created under "${mount}", is returned whole with its Location, and its tasks are on the classic list`,
    `
    > POST ${mount}/api/v1/jobs
    >
    > ${CREATE}
    < 201 application/json
    < Location: http://localhost${mount}/api/v1/jobs/{id:job}
    <
    < {"id":{id:job},"layer":"ws:roads","type":"seed","gridSet":"EPSG:4326","format":"image/png","parameters":{},"bounds":[0,0,10,10],"zoomStart":0,"zoomStop":3,"state":"{word}","outcome":null,"reason":null,"tasks":[{id:one},{id:two}],{any}"paused":false,"createdBy":null,"abortedBy":null,"retryOf":null{any}
    > GET ${mount}/rest/seed.json
    < 200 application/json
    <
    < {"long-array-array":[[0,{id},-1,{id:one},{status}],[0,{id},-1,{id:two},{status}]]}
  `,
  );
}

describe("Idempotency-Key", () => {
  const again = (body: string, answer: string): string => `
    > POST /api/v1/jobs
    > Idempotency-Key: "night 7"
    >
    > ${body}
    < ${answer}`;
  transcript(
    "a key that holds a blank is refused",
    `${again(CREATE, "400 application/problem+json")}\n<\n< {any}"detail":"Idempotency-Key: {line}"code":"bad_field"}`,
  );
  transcript(
    "the same key with the same request is the same job, and with another request a 422",
    `
    > POST /api/v1/jobs
    > Idempotency-Key: nightly-1
    >
    > {"layer":"x/y","zoomStop":3}
    < 201 application/json
    < Idempotency-Replayed: {absent}
    <
    < {"id":{id:job},{any}
    > POST /api/v1/jobs
    > Idempotency-Key: "nightly-1"
    >
    > { "zoomStop": 3, "type": "seed", "layer": "x/y" }
    < 201 application/json
    < Idempotency-Replayed: true
    < Location: http://localhost/api/v1/jobs/{id:job}
    <
    < {"id":{id:job},{any}
    > POST /api/v1/jobs
    > Idempotency-Key: nightly-1
    >
    > {"layer":"x/y","zoomStop":4}
    < 422 application/problem+json
    <
    < {"type":"about:blank","title":"key reused","status":422,"detail":"Idempotency-Key: {line}nightly-1{line}{id:job}{line}","code":"key_reused"}
    > POST /api/v1/jobs/{id:job}/cancel
    < 200 application/json
    <
    < {any}
    > DELETE /api/v1/jobs/{id:job}
    < 204
    > GET /api/v1/jobs/{id:job}
    < 404 application/problem+json
    <
    < {any}
  `,
  );
});

describe("refusals name the field and the value", () => {
  const refused = (sentence: string, body: string, status: number, code: string, detail: string): void =>
    transcript(
      sentence,
      `\n> POST /api/v1/jobs\n>\n> ${body}\n< ${status} application/problem+json\n<\n< {"type":"about:blank",{any}"status":${status},"detail":"${detail}","code":"${code}"}`,
    );
  refused("no layer", "{}", 400, "bad_field", "layer: expected the name of a layer, got null");
  refused("an unknown layer", '{"layer":"no:such"}', 404, "unknown_layer", "Unknown layer: no:such");
  refused(
    "an unknown grid set, by the name of the field here",
    '{"layer":"ws:roads","gridSet":"EPSG:1"}',
    400,
    "bad_field",
    'gridSet: expected one of EPSG:900913, EPSG:4326, got \\"EPSG:1\\"',
  );
  refused(
    "an unknown field",
    '{"layer":"ws:roads","zoomstop":3}',
    400,
    "bad_field",
    "zoomstop: unknown field, expected zoomStop, got 3",
  );
  refused("what is not JSON", "<seedRequest/>", 400, "malformed", "body: {any}");
});

transcript(
  "a paused job is pending on the classic list, and stays there until it is resumed",
  `
  > POST /api/v1/jobs
  >
  > {"layer":"ws:roads","zoomStop":3}
  < 201 application/json
  <
  < {"id":{id:job},{any}"tasks":[{id:task}]{any}
  ~ GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,85,-1,{id:task},1]]}
  > POST /api/v1/jobs/{id:job}/pause
  < 200 application/json
  <
  < {"id":{id:job},{any}"state":"pending","outcome":null,"reason":"paused",{any}"paused":true{any}
  > POST /api/v1/jobs/{id:job}/pause
  < 200 application/json
  <
  < {any}"paused":true{any}
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,85,-1,{id:task},0]]}
  > GET /api/v1/jobs?state=pending
  < 200 application/json
  <
  < {"jobs":[{"id":{id:job},{any}]}
  > POST /api/v1/jobs/{id:job}/resume
  < 200 application/json
  <
  < {any}"reason":null,{any}"paused":false{any}
  ~ GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,85,-1,{id:task},1]]}
  > POST /api/v1/jobs/{id:job}/resume
  < 200 application/json
  <
  < {any}"paused":false{any}
`,
);

for (const scope of ["all", "pending"])
  transcript(
    `kill_all=${scope} of the classic interface ends a paused job`,
    `
    > POST /api/v1/jobs
    >
    > {"layer":"ws:roads","zoomStop":3}
    < 201 application/json
    <
    < {"id":{id:job},{any}"tasks":[{id:task}]{any}
    > POST /api/v1/jobs/{id:job}/pause
    < 200 application/json
    <
    < {any}
    > POST /rest/seed
    >
    > kill_all=${scope}
    < 200 text/html; charset=utf-8
    <
    < {any}[{id:task}: ws:roads, SEED, PENDING]{any}
    > GET /rest/seed.json
    < 200 application/json
    <
    < {"long-array-array":[]}
    > GET /api/v1/jobs/{id:job}
    < 200 application/json
    <
    < {any}"state":"aborted","outcome":"aborted","reason":"killed",{any}"paused":false{any}
  `,
  );

transcript(
  "a cancelled job has left the list, says so again, cannot be paused, and is retried by a new job",
  `
  > POST /api/v1/jobs
  >
  > {"layer":"ws:roads","zoomStop":3}
  < 201 application/json
  <
  < {"id":{id:job},{any}
  > POST /api/v1/jobs/{id:job}/retry
  < 409 application/problem+json
  <
  < {any}"detail":"Job {id:job} has not ended: it is {word}; cancel it first."{any}
  > DELETE /api/v1/jobs/{id:job}
  < 409 application/problem+json
  <
  < {any}"code":"conflict"}
  > POST /api/v1/jobs/{id:job}/cancel
  < 200 application/json
  <
  < {any}"state":"aborted","outcome":"aborted","reason":"cancelled",{any}
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[]}
  > POST /api/v1/jobs/{id:job}/cancel
  < 200 application/json
  <
  < {any}"state":"aborted"{any}
  > POST /api/v1/jobs/{id:job}/pause
  < 409 application/problem+json
  <
  < {any}"detail":"Job {id:job} has ended: aborted."{any}
  > POST /api/v1/jobs/{id:job}/resume
  < 409 application/problem+json
  <
  < {any}
  > POST /api/v1/jobs/{id:job}/retry
  < 201 application/json
  < Location: http://localhost/api/v1/jobs/{id:again}
  <
  < {"id":{id:again},"layer":"ws:roads",{any}"tiles":{"total":85,{any}"retryOf":{id:job}{any}
`,
);

transcript(
  "a wait is answered at once for a job that has ended, and a wait that is no number of seconds up to 120 is refused",
  `
  > POST /api/v1/jobs
  >
  > {"layer":"ws:roads","zoomStop":3}
  < 201 application/json
  <
  < {"id":{id:job},{any}
  > GET /api/v1/jobs/{id:job}?wait=1
  < 200 application/json
  <
  < {"id":{id:job},{any}"outcome":null{any}"timeLeft":null,"area":null,"zooms":[{"z":0,"tiles":{"total":1,"stored":0,"skipped":0,"failed":0},"bytes":0},{any}]}
  > POST /api/v1/jobs/{id:job}/cancel
  < 200 application/json
  <
  < {any}
  > GET /geowebcache/api/v1/jobs/{id:job}?wait=120
  < 200 application/json
  <
  < {any}"outcome":"aborted"{any}
  > GET /api/v1/jobs/{id:job}?wait=121
  < 400 application/problem+json
  <
  < {any}"detail":"wait: expected seconds, a whole number from 0 to 120, got \\"121\\""{any}
`,
);

transcript(
  "a job without failures lists none, in either form; another form, limit or cursor is refused",
  `
  > POST /api/v1/jobs
  >
  > {"layer":"ws:roads","zoomStop":3}
  < 201 application/json
  <
  < {"id":{id:job},{any}
  > GET /api/v1/jobs/{id:job}/failures
  < 200 application/json
  <
  < {"gridSet":"EPSG:900913","failures":[],"next":null}
  > GET /geowebcache/api/v1/jobs/{id:job}/failures?format=geojson
  < 200 application/geo+json
  <
  < {"type":"FeatureCollection","features":[],"next":null}
  > GET /api/v1/jobs/{id:job}/failures?format=csv
  < 400 application/problem+json
  <
  < {any}"detail":"format: expected json or geojson, got \\"csv\\""{any}
  > GET /api/v1/jobs/{id:job}/failures?limit=0
  < 400 application/problem+json
  <
  < {any}limit{any}
  > GET /api/v1/jobs/{id:job}/failures?after=x
  < 400 application/problem+json
  <
  < {any}after{any}
`,
);

transcript(
  "the terms of a job are shown, and changed as long as it has not ended; a wrong field is refused by name",
  `
  > POST /api/v1/jobs
  >
  > {"layer":"ws:roads","zoomStop":3,"priority":"low","rateLimit":0.001,"runWindow":{"from":"01:00","to":"23:59","timeZone":"Asia/Tokyo"}}
  < 201 application/json
  <
  < {"id":{id:job},{any}"priority":1,"rateLimit":0.001,"runWindow":{"from":"01:00","to":"23:59","timeZone":"Asia/Tokyo"},{any}
  > PATCH /geowebcache/api/v1/jobs/{id:job}
  >
  > {"priority":99,"rateLimit":2.5,"runWindow":null}
  < 200 application/json
  <
  < {any}"priority":99,"rateLimit":2.5,"runWindow":null,{any}
  > PATCH /api/v1/jobs/{id:job}
  >
  > {"priority":null}
  < 200 application/json
  <
  < {any}"priority":10,"rateLimit":2.5,{any}
  > PATCH /api/v1/jobs/{id:job}
  >
  > {"priority":0}
  < 400 application/problem+json
  <
  < {any}"detail":"priority: expected a whole number from 1 to 100, or low, normal or high, got 0"{any}
  > PATCH /api/v1/jobs/{id:job}
  >
  > {}
  < 400 application/problem+json
  <
  < {any}"detail":"body: expected at least one of priority, rateLimit, runWindow, threadCount"{any}
  > POST /api/v1/jobs/{id:job}/cancel
  < 200 application/json
  <
  < {any}
  > PATCH /api/v1/jobs/{id:job}
  >
  > {"priority":5}
  < 409 application/problem+json
  <
  < {any}
  > PATCH /api/v1/jobs/999999
  >
  > {"priority":5}
  < 404 application/problem+json
  <
  < {any}"code":"unknown_job"}
`,
);

describe("a job that does not exist", () => {
  for (const request of [
    "GET /api/v1/jobs/999999/failures",
    "DELETE /api/v1/jobs/999999",
    "POST /api/v1/jobs/999999/cancel",
    "POST /api/v1/jobs/999999/pause",
    "POST /api/v1/jobs/999999/resume",
    "POST /api/v1/jobs/999999/retry",
  ])
    transcript(
      request,
      `\n> ${request}\n< 404 application/problem+json\n<\n< {any}"detail":"Unknown job: 999999","code":"unknown_job"}`,
    );
});

describe("methods", () => {
  for (const [method, path, allow] of [
    ["DELETE", "/api/v1/jobs", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/api/v1/jobs/1", "GET, HEAD, PATCH, DELETE, OPTIONS"],
    ["GET", "/api/v1/jobs/1/cancel", "POST, OPTIONS"],
    ["GET", "/api/v1/jobs/1/pause", "POST, OPTIONS"],
    ["DELETE", "/api/v1/jobs/1/resume", "POST, OPTIONS"],
    ["PUT", "/geowebcache/api/v1/jobs/1/retry", "POST, OPTIONS"],
  ])
    transcript(
      `${method} ${path} is 405`,
      `\n> ${method} ${path}\n< 405 application/problem+json\n< Allow: ${allow}\n<\n< {any}${allow}{any}`,
    );
  transcript("another action is 404", "\n> POST /api/v1/jobs/1/restart\n< 404 application/problem+json\n<\n< {any}");
});

describe("a job over an area", () => {
  const SQUARE = '{"type":"Polygon","coordinates":[[[-170,-80],[-100,-80],[-100,-20],[-170,-80]]]}';
  transcript(
    "it is shown with the box around it and its own GeoJSON, and its total is of the area alone",
    `
    > POST /api/v1/jobs
    >
    > {"layer":"ws:roads","gridSet":"EPSG:4326","area":${SQUARE},"zoomStart":3,"zoomStop":3}
    < 201 application/json
    <
    < {any}"bounds":[-170,-80,-100,-20],"zoomStart":3,"zoomStop":3,{any}"tiles":{"total":10,{any}"limit":"area",{any}"area":{"type":"MultiPolygon","coordinates":[[[{any}
    > GET /api/v1/jobs?limit=1
    < 200 application/json
    <
    < {"jobs":[{any}"limit":"area",{any}
    > POST /api/v1/estimate
    >
    > {"layer":"ws:roads","gridSet":"EPSG:4326","tiles":["3/0/0","5/7/7"]}
    < 200 application/json
    <
    < {"tiles":2,{any}
  `,
  );
  transcript(
    "what excludes one another, lies outside, or is on neither side of the date line is refused by name",
    `
    > POST /api/v1/jobs
    >
    > {"layer":"ws:roads","area":${SQUARE},"bounds":[0,0,1,1]}
    < 400 application/problem+json
    <
    < {any}"detail":"bounds: expected nothing beside area, got [0,0,1,1]","code":"bad_field"}
    > POST /api/v1/jobs
    >
    > {"layer":"ws:roads","gridSet":"EPSG:4326","area":"POLYGON((177 0, -178 0, -178 5, 177 0))"}
    < 400 application/problem+json
    <
    < {any}"detail":"area: expected edges of at most 180 degrees{line}"code":"bad_field"}
    > POST /api/v1/jobs
    >
    > {"layer":"ws:roads","type":"truncate","tiles":["1/0/0"]}
    < 400 application/problem+json
    <
    < {any}"detail":"gridSet: expected one of {line}(tiles have no meaning without a grid set or srs){line}"code":"bad_field"}
  `,
  );
});
