import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// : /api/v1, where the contract leans on it.
const { transcript } = contractServer({ configuration: (url) => layers(url), hanging: true, before: KILL_ALL });

transcript(
  "a job shows the request, its state, its tasks and its counts, with integers as integers",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"gridSetId":"EPSG:4326","bounds":{"coords":{"double":[0,0,10,10]}},"zoomStart":0,"zoomStop":3,"format":"image/jpeg","threadCount":2,"parameters":{"STYLES":"b"}}}
  < 200 text/plain
  < X-Job-Id: {id:job}
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {"id":{id:job},"layer":"ws:roads","type":"seed","gridSet":"EPSG:4326","format":"image/jpeg","parameters":{"STYLES":"b"},"bounds":[0,0,10,10],"zoomStart":0,"zoomStop":3,"state":"{word}","outcome":null,"reason":null,"tasks":[{id},{id}],"tiles":{"total":{id},"stored":0,"skipped":0,"failed":0},"createdAt":"{time}",{any}"endedAt":null,"errors":[]{any}
  > POST /rest/seed
  >
  > kill_all=all
  < 200 text/html; charset=utf-8
  <
  < {any}
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {any}"state":"aborted","outcome":"aborted","reason":"{line}",{any}"endedAt":"{time}"{any}
`,
);

transcript(
  "jobs are listed newest first, and filtered by layer, type, state, limit and after",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":3}}
  < 200 text/plain
  < X-Job-Id: {id:old}
  > POST /rest/seed/x%2Fy.json
  >
  > {"seedRequest":{"zoomStop":3,"type":"reseed"}}
  < 200 text/plain
  < X-Job-Id: {id:new}
  > GET /api/v1/jobs?limit=2
  < 200 application/json
  <
  < {"jobs":[{"id":{id:new},"layer":"x/y",{any}},{"id":{id:old},"layer":"ws:roads",{any}}]}
  > GET /api/v1/jobs?layer=x%2Fy&limit=1
  < 200 application/json
  <
  < {"jobs":[{"id":{id:new},{any}
  > GET /api/v1/jobs?type=seed&limit=1
  < 200 application/json
  <
  < {"jobs":[{"id":{id:old},{any}
  > GET /api/v1/jobs?after={id:new}&limit=1
  < 200 application/json
  <
  < {"jobs":[{"id":{id:old},{any}
  ~ GET /api/v1/jobs?state=running&limit=2
  < 200 application/json
  <
  < {"jobs":[{"id":{id:new},{any}"state":"running"{any}},{"id":{id:old},{any}"state":"running"{any}}]}
  > GET /api/v1/jobs?state=done&after=1
  < 200 application/json
  <
  < {"jobs":[]}
`,
);

describe("refusals are problems", () => {
  const problem = (sentence: string, path: string, status: number, code: string): void =>
    transcript(
      sentence,
      `\n> GET ${path}\n< ${status} application/problem+json\n<\n< {"type":"about:blank","title":"{any}","status":${status},"detail":"{any}","code":"${code}"}`,
    );
  problem("a job that does not exist", "/api/v1/jobs/999999", 404, "unknown_job");
  problem("a job that is no number", "/api/v1/jobs/x", 404, "not_found");
  problem("an unknown layer is 404 here", "/api/v1/jobs?layer=no:such", 404, "unknown_layer");
  problem("an unknown state", "/api/v1/jobs?state=odd", 400, "bad_field");
  problem("an unknown type", "/api/v1/jobs?type=odd", 400, "bad_field");
  problem("a limit of nought", "/api/v1/jobs?limit=0", 400, "bad_field");
  problem("a limit that is no number", "/api/v1/jobs?limit=x", 400, "bad_field");
  problem("an after that is no id", "/api/v1/jobs?after=x", 400, "bad_field");
  problem("an unknown path", "/api/v1/nothing", 404, "not_found");
  problem("another version", "/api/v2/jobs", 404, "not_found");
});

for (const mount of ["", "/geowebcache"]) {
  transcript(
    `usage under "${mount}"`,
    `\n> GET ${mount}/api/v1/usage\n< 200 application/json\n<\n< {"total":{"tiles":0,"bytes":0},"layers":[{any}{"layer":"ws:roads","tiles":0,"bytes":0,"quota":null{any}`,
  );
  transcript(
    `openapi under "${mount}"`,
    `\n> GET ${mount}/api/v1/openapi.json\n< 200 application/json\n<\n< {"openapi":"3.{any}/jobs{any}`,
  );
}
