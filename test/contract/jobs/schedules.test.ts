import { describe, expect, test } from "vitest";
import { contractServer } from "../contract-server.ts";
import { layers } from "../layers.ts";

// Issue 6: schedules are made, listed, replaced, paused, run and removed over /api/v1.
const { transcript, at } = contractServer({ configuration: (url) => layers(url), hanging: true });

interface SchedulePreview {
  readonly runs: readonly string[];
  readonly windows: readonly { readonly from: string; readonly to: string }[];
}

for (const mount of ["", "/geowebcache"])
  transcript(
    `under "${mount}" a schedule is made, is there once, listed by name, replaced, paused, resumed and removed`,
    `
    > POST ${mount}/api/v1/schedules
    >
    > {"name":"every year","cron":"0 3 1 1 *","timeZone":"Europe/Zurich","window":{"start":"22:00","end":"06:00"},"job":{"layer":"ws:roads","zoomStop":3}}
    < 201 application/json
    < Location: http://localhost${mount}/api/v1/schedules/every%20year
    <
    < {"name":"every year","cron":"0 3 1 1 *","timeZone":"Europe/Zurich","missed":"run_once","overlap":"never","window":{"start":"22:00","end":"06:00"},"job":{"layer":"ws:roads","type":"seed","zoomStop":3},"paused":false,"createdBy":null,"createdAt":"{time:made}","nextRun":"{time}","lastRun":null,"runs":[]}
    > POST ${mount}/api/v1/schedules
    >
    > {"name":"every year","cron":"@daily","job":{"layer":"x/y"}}
    < 409 application/problem+json
    <
    < {any}"detail":"Schedule every year already exists; a PUT replaces it.","code":"conflict"}
    > GET ${mount}/api/v1/schedules
    < 200 application/json
    <
    < {"schedules":[{any}{"name":"every year","cron":"0 3 1 1 *",{any}"lastRun":null}{any}]}
    > PUT ${mount}/api/v1/schedules/every%20year
    >
    > {"cron":"@yearly","missed":"skip","job":{"layer":"x/y","type":"reseed"}}
    < 200 application/json
    <
    < {"name":"every year","cron":"@yearly","timeZone":"UTC","missed":"skip","overlap":"never","window":null,"job":{"layer":"x/y","type":"reseed"},"paused":false,"createdBy":null,"createdAt":"{time:made}","nextRun":"{word}-01-01T00:00:00.000Z","lastRun":null,"runs":[]}
    > POST ${mount}/api/v1/schedules/every%20year/pause
    < 200 application/json
    <
    < {any}"paused":true,{any}"nextRun":null,{any}
    > GET ${mount}/api/v1/schedules/every%20year
    < 200 application/json
    <
    < {"name":"every year",{any}"paused":true,{any}
    > POST ${mount}/api/v1/schedules/every%20year/resume
    < 200 application/json
    <
    < {any}"paused":false,{any}"nextRun":"{time}",{any}
    > DELETE ${mount}/api/v1/schedules/every%20year
    < 204
    > GET ${mount}/api/v1/schedules/every%20year
    < 404 application/problem+json
    <
    < {"type":"about:blank","title":"unknown schedule","status":404,"detail":"Unknown schedule: every year","code":"unknown_schedule"}
  `,
  );

transcript(
  "a run at once answers its job, which names the schedule; while it has not ended there is no other",
  `
  > PUT /api/v1/schedules/now
  >
  > {"cron":"@yearly","job":{"layer":"ws:roads","gridSet":"EPSG:900913","zoomStop":3}}
  < 201 application/json
  < Location: http://localhost/api/v1/schedules/now
  <
  < {"name":"now",{any}
  > POST /api/v1/schedules/now/run
  < 201 application/json
  < Location: http://localhost/api/v1/jobs/{id:job}
  <
  < {"id":{id:job},"layer":"ws:roads","type":"seed",{any}"tiles":{"total":85,{any}"retryOf":null,"schedule":"now",{any}
  > POST /api/v1/schedules/now/run
  < 409 application/problem+json
  <
  < {any}"detail":"Job {id:job} of the schedule now has not ended.","code":"conflict"}
  > GET /api/v1/jobs?schedule=now
  < 200 application/json
  <
  < {"jobs":[{"id":{id:job},{any}]}
  > GET /api/v1/jobs?schedule=never
  < 200 application/json
  <
  < {"jobs":[]}
  > GET /api/v1/schedules/now
  < 200 application/json
  <
  < {any}"lastRun":{"at":"{time:at}","dueAt":null,"by":null,"result":"started","job":{id:job},"jobs":[{id:job}],"reason":null},"runs":[{"at":"{time:at}",{any}}]}
  > GET /api/v1/schedules/now?runs=1
  < 200 application/json
  <
  < {any}"runs":[{{any}"jobs":[{id:job}],"reason":null,"outcome":null}]}
  > POST /api/v1/jobs/{id:job}/cancel
  < 200 application/json
  <
  < {any}
  > GET /api/v1/schedules?runs=2
  < 200 application/json
  <
  < {any}"runs":[{{any}"jobs":[{id:job}],"reason":null,"outcome":"aborted"}]}{any}
  > GET /api/v1/schedules?runs=51
  < 400 application/problem+json
  <
  < {any}"detail":"runs: expected a whole number from 0 to 50, got {any}"code":"bad_field"}
  > DELETE /api/v1/schedules/now
  < 204
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {any}"schedule":"now"{any}
`,
);

transcript(
  "the jobs of patterns in an area are made in one batch and listed in the run; a list shows that there is an area",
  `
  > POST /api/v1/schedules
  >
  > {"name":"all","cron":"@yearly","window":{"from":"22:00","to":"06:00"},"job":{"layers":"ws:*","gridSets":"*","zoomStop":1,"area":"SRID=4326;POLYGON((-109 37,-102 37,-102 41,-109 37))","priority":"low"}}
  < 201 application/json
  < Location: http://localhost/api/v1/schedules/all
  <
  < {"name":"all",{any}"window":{"start":"22:00","end":"06:00"},"job":{"layers":["ws:*"],"type":"seed","gridSets":"*","area":{"type":"MultiPolygon","coordinates":[[[[-109,37],[-102,37],[-102,41],[-109,37]]]]},"zoomStop":1,"priority":1},{any}
  > POST /api/v1/schedules/all/run
  < 201 application/json
  <
  < {"jobs":[{"id":{id:first},"layer":"ws:roads",{any}"gridSet":"EPSG:900913",{any}"schedule":"all",{any}},{"id":{id:second},"layer":"ws:roads",{any}"gridSet":"EPSG:4326",{any}]}
  > GET /api/v1/schedules
  < 200 application/json
  <
  < {"schedules":[{any}{"name":"all",{any}"job":{"layers":["ws:*"],"type":"seed","gridSets":"*","limit":"area","zoomStop":1,"priority":1},{any}"result":"started","job":{id:first},"jobs":[{id:first},{id:second}],"reason":null}}{any}]}
  > DELETE /api/v1/schedules/all
  < 204
`,
);

transcript(
  "a PATCH changes the given fields, and null gives the default back",
  `
  > POST /api/v1/schedules
  >
  > {"name":"changed","cron":"0 3 1 1 *","timeZone":"Europe/Zurich","missed":"skip","window":{"start":"22:00","end":"06:00"},"job":{"layer":"ws:roads","zoomStop":3}}
  < 201 application/json
  <
  < {any}
  > PATCH /api/v1/schedules/changed
  >
  > {"cron":"0 0 1 1 *","timeZone":null,"window":{"from":"01:00","to":"02:00"}}
  < 200 application/json
  <
  < {"name":"changed","cron":"0 0 1 1 *","timeZone":"UTC","missed":"skip","overlap":"never","window":{"start":"01:00","end":"02:00"},"job":{"layer":"ws:roads","type":"seed","zoomStop":3},"paused":false,{any}"nextRun":"{word}-01-01T00:00:00.000Z",{any}"runs":[]}
  > PATCH /api/v1/schedules/changed
  >
  > {"window":null,"missed":null,"job":{"layer":"x/y"}}
  < 200 application/json
  <
  < {"name":"changed","cron":"0 0 1 1 *","timeZone":"UTC","missed":"run_once","overlap":"never","window":null,"job":{"layer":"x/y","type":"seed"},{any}
  > POST /api/v1/schedules/changed/pause
  < 200 application/json
  <
  < {any}
  > PATCH /api/v1/schedules/changed
  >
  > {"cron":"@daily"}
  < 200 application/json
  <
  < {any}"cron":"@daily",{any}"paused":true,{any}"nextRun":null,{any}
  > PATCH /api/v1/schedules/changed
  >
  > {"cron":"@weekly","job":{"layer":"no:such"}}
  < 400 application/problem+json
  <
  < {any}"detail":"job.layer: expected the name of a layer, got \\"no:such\\"",{any}
  > PATCH /api/v1/schedules/changed
  >
  > {"job":{"layer":"ws:roads","gridSet":"EPSG:1"}}
  < 400 application/problem+json
  <
  < {any}"detail":"job.gridSet: expected one of {any}
  > GET /api/v1/schedules/changed
  < 200 application/json
  <
  < {any}"cron":"@daily",{any}"job":{"layer":"x/y","type":"seed"},{any}
  > DELETE /api/v1/schedules/changed
  < 204
`,
);

test("a preview has the next times, and when the window is open, and makes nothing", async () => {
  const { url } = at();
  const preview = async (document: unknown): Promise<[number, SchedulePreview]> => {
    const response = await fetch(`${url}/api/v1/schedules/preview`, { method: "POST", body: JSON.stringify(document) });
    return [response.status, (await response.json()) as SchedulePreview];
  };
  const [status, { runs, windows }] = await preview({
    cron: "30 2 * * *",
    timeZone: "Asia/Kolkata",
    window: { start: "22:00", end: "06:00" },
    count: 3,
  });
  const days = runs.map((run) => Date.parse(run));
  expect([status, runs.length, windows.length]).toEqual([200, 3, 3]);
  expect(runs.every((run) => run.endsWith("T21:00:00.000Z"))).toBe(true);
  expect(days.map((ms) => ms - (days[0] ?? 0))).toEqual([0, 86_400_000, 172_800_000]);
  for (const { from, to } of windows) {
    expect([from.slice(10), to.slice(10)]).toEqual(["T16:30:00.000Z", "T00:30:00.000Z"]);
    expect(Date.parse(to)).toBeGreaterThan(Date.now());
  }
  expect((await preview({ cron: "@yearly" }))[1]).toMatchObject({ runs: { length: 10 }, windows: [] });
  const [refused] = await preview({ cron: "@yearly", job: { layer: "ws:roads" } });
  expect(refused, "a job is no part of the preview").toBe(400);
});

test("more than four previews at once are refused, and later ones are not", async () => {
  const body = JSON.stringify({ cron: "0 0 29 2 1", timeZone: "America/New_York", count: 1000 });
  const preview = async (): Promise<number> => {
    const response = await fetch(`${at().url}/api/v1/schedules/preview`, { method: "POST", body });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 24 }, preview));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(await preview()).toBe(200);
});

describe("a preview is refused with the field and the value:", () => {
  for (const [fields, detail] of [
    ['"cron":"0 2 * *"', 'cron: expected five fields {any}, got \\"0 2 * *\\"'],
    ['"timeZone":"UTC"', "cron: expected five fields such as 0 2 * * *, or @daily, got null"],
    ['"cron":"@daily","timeZone":"Zurich"', "timeZone: expected a time zone {any}"],
    ['"cron":"@daily","window":{"start":"22:00"}', "window.end: expected a time of the day {any}, got null"],
    ['"cron":"@daily","count":1001', "count: expected a whole number from 1 to 1000, got 1001"],
    ['"cron":"@daily","count":0.5', "count: expected a whole number from 1 to 1000, got 0.5"],
  ] as const)
    transcript(
      fields,
      `
      > POST /api/v1/schedules/preview
      >
      > {${fields}}
      < 400 application/problem+json
      <
      < {any}"detail":"${detail}","code":"bad_field"}
    `,
    );
});

describe("refusals name the field and the value, and nothing is made", () => {
  const refused = (sentence: string, fields: string, detail: string): void =>
    transcript(
      sentence,
      `
      > POST /api/v1/schedules
      >
      > {"name":"bad",${fields}}
      < 400 application/problem+json
      <
      < {"type":"about:blank","title":"bad field","status":400,"detail":"${detail}","code":"bad_field"}
      > GET /api/v1/schedules/bad
      < 404 application/problem+json
      <
      < {any}
    `,
    );
  const job = '"job":{"layer":"ws:roads"}';
  refused("a bad cron", `"cron":"0 2 * *",${job}`, 'cron: expected five fields {any}, got \\"0 2 * *\\"');
  refused(
    "an unknown time zone",
    `"cron":"@daily","timeZone":"Europe/Zürich",${job}`,
    'timeZone: expected a time zone of the IANA database, such as Europe/Zurich, got \\"{any}\\"',
  );
  refused(
    "an unknown layer",
    '"cron":"@daily","job":{"layer":"no:such"}',
    'job.layer: expected the name of a layer, got \\"no:such\\"',
  );
  refused(
    "what the layer does not have",
    '"cron":"@daily","job":{"layer":"ws:roads","gridSet":"EPSG:1"}',
    'job.gridSet: expected one of EPSG:900913, EPSG:4326, got \\"EPSG:1\\"',
  );
  refused(
    "a pattern of no layer",
    '"cron":"@daily","job":{"layers":["ws:*","sw:*"]}',
    'job.layers: expected names of layers, in which * stands for any characters, got \\"sw:*\\"',
  );
  refused(
    "an area where the layer has nothing",
    '"cron":"@daily","job":{"layer":"ws:roads","area":"SRID=4326;POLYGON((0 89,1 89,1 90,0 89))"}',
    "job.area: expected {any}",
  );
  refused("an unknown field", `"cron":"@daily","zone":"UTC",${job}`, 'zone: unknown field, {any}, got \\"UTC\\"');
  transcript(
    "a PUT under another name",
    `
    > PUT /api/v1/schedules/bad
    >
    > {"name":"good","cron":"@daily",${job}}
    < 400 application/problem+json
    <
    < {any}"detail":"name: expected bad, as in the path, got \\"good\\"",{any}
  `,
  );
});

describe("a schedule that does not exist", () => {
  for (const request of [
    "GET /api/v1/schedules/none",
    'PATCH /api/v1/schedules/none\n>\n> {"cron":"@daily"}',
    "DELETE /api/v1/schedules/none",
    "POST /api/v1/schedules/none/pause",
    "POST /api/v1/schedules/none/resume",
    "POST /api/v1/schedules/none/run",
  ])
    transcript(
      request,
      `\n> ${request}\n< 404 application/problem+json\n<\n< {any}"detail":"Unknown schedule: none","code":"unknown_schedule"}`,
    );
});

describe("methods", () => {
  for (const [method, path, allow] of [
    ["DELETE", "/api/v1/schedules", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/api/v1/schedules/a", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"],
    ["GET", "/api/v1/schedules/preview", "POST, OPTIONS"],
    ["GET", "/geowebcache/api/v1/schedules/a/run", "POST, OPTIONS"],
  ])
    transcript(
      `${method} ${path} is 405`,
      `\n> ${method} ${path}\n< 405 application/problem+json\n< Allow: ${allow}\n<\n< {any}`,
    );
  transcript("another action is 404", "\n> POST /api/v1/schedules/a/start\n< 404 application/problem+json\n<\n< {any}");
});
