import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Seed request and Task list: accepted requests. The upstream never answers, so
// seeds stay in the list.
const { transcript } = contractServer({
  configuration: (url) => layers(url, 'server: { allowedOrigins: ["https://tiles.example:8443"] }'),
  hanging: true,
  before: KILL_ALL,
});

transcript(
  "a seed request is answered with 200, text/plain, an empty body, and the job's id and address",
  `
  > POST /rest/seed/ws:roads.xml
  > Content-Type: text/xml
  >
  > <seedRequest><name>ws:roads</name><srs><number>900913</number></srs><zoomStart>1</zoomStart><zoomStop>3</zoomStop><format>image/png</format><type>seed</type><threadCount>2</threadCount></seedRequest>
  < 200 text/plain
  < X-Job-Id: {id:job}
  < Link: <http://localhost/api/v1/jobs/{id:job}>; rel="monitor"
  < Content-Length: 0
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {"id":{id:job},"layer":"ws:roads","type":"seed","gridSet":"EPSG:900913","format":"image/png","parameters":{any},"bounds":null,"zoomStart":1,"zoomStop":3,"state":"{word}","outcome":null{any}"tiles":{"total":84,"stored":0,"skipped":0,"failed":0}{any}
`,
);

transcript(
  "the rows of a seed request are in the list before the answer is sent, one per thread, ascending by id",
  `
  > POST /rest/seed/ws:roads.json
  > Content-Type: application/json
  >
  > {"seedRequest":{"name":"ws:roads","gridSetId":"EPSG:4326","zoomStart":0,"zoomStop":9,"type":"seed","threadCount":3}}
  < 200 text/plain
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,{id},{int},{id:a},{status}],[0,{id},{int},{id:b},{status}],[0,{id},{int},{id:c},{status}]]}
  ~ GET /rest/seed/ws:roads.json
  < 200 application/json
  <
  < {"long-array-array":[[0,{id},-1,{id:a},1],[0,{id},-1,{id:b},1],[0,{id},-1,{id:c},1]]}
`,
);

transcript(
  "Link is absolute under the host and the mount of the request",
  `
  > POST /geowebcache/rest/seed/ws:roads.json
  > Host: tiles.example:8443
  >
  > {"seedRequest":{"zoomStop":0}}
  < 200 text/plain
  < X-Job-Id: {id:job}
  < Link: <http://tiles.example:8443/geowebcache/api/v1/jobs/{id:job}>; rel="monitor"
`,
);

const accepted = (sentence: string, layer: string, request: string, job: string): void =>
  transcript(
    sentence,
    `
    > POST /rest/seed/${layer}.json
    > Content-Type: application/json
    >
    > ${JSON.stringify({ seedRequest: request === "" ? {} : JSON.parse(request) })}
    < 200 text/plain
    < X-Job-Id: {id:job}
    > GET /api/v1/jobs/{id:job}
    < 200 application/json
    <
    < {"id":{id:job},${job}{any}
  `,
  );

describe("what is absent from a request", () => {
  accepted(
    "nothing but zooms seeds the layer's first grid subset and first format, the whole coverage, one thread",
    "ws:roads",
    '{"zoomStop":1}',
    '"layer":"ws:roads","type":"seed","gridSet":"EPSG:900913","format":"image/png","parameters":{any},"bounds":null,"zoomStart":0,"zoomStop":1,{any}"tasks":[{id}],"tiles":{"total":5,',
  );
  accepted(
    "without zooms the subset's first and last are used",
    "l%C3%A4%20yer.v1",
    '{"gridSetId":"EPSG:900913","format":"image/jpeg"}',
    '"layer":"l\\u00e4 yer.v1","type":"seed","gridSet":"EPSG:900913","format":"image/jpeg","parameters":{},"bounds":null,"zoomStart":2,"zoomStop":5,{any}"tiles":{"total":1360,',
  );
  accepted(
    "a truncate without grid set and format is of all of them, and has one task",
    "ws:roads",
    '{"type":"truncate","threadCount":9}',
    '"layer":"ws:roads","type":"truncate","gridSet":null,"format":null,{any}"bounds":null,{any}"tasks":[{id}],',
  );
  accepted(
    "a truncate of one grid set and format names them",
    "ws:roads",
    '{"type":"truncate","gridSetId":"EPSG:4326","format":"image/png","zoomStart":1,"zoomStop":12}',
    '"layer":"ws:roads","type":"truncate","gridSet":"EPSG:4326","format":"image/png",{any}"zoomStart":1,"zoomStop":12,',
  );
  accepted(
    "a name in the body is ignored, as the path names the layer",
    "ws:roads",
    '{"name":"nobody:knows","zoomStop":0}',
    '"layer":"ws:roads",',
  );
});

describe("zooms", () => {
  accepted(
    "a zoomStop above the layer's highest is reduced to it",
    "x%2Fy",
    '{"zoomStart":10,"zoomStop":99}',
    '"layer":"x/y","type":"seed","gridSet":"EPSG:4326",{any}"zoomStart":10,"zoomStop":10,',
  );
  accepted(
    "a zoomStart below the subset's first is raised to it",
    "l%C3%A4%20yer.v1",
    '{"gridSetId":"EPSG:900913","zoomStart":0,"zoomStop":2}',
    '"layer":"l\\u00e4 yer.v1",{any}"zoomStart":2,"zoomStop":2,{any}"tiles":{"total":16,',
  );
  accepted(
    "a truncate over several grid sets skips those in which no zoom is left",
    "l%C3%A4%20yer.v1",
    '{"type":"truncate","zoomStart":0,"zoomStop":1}',
    '"layer":"l\\u00e4 yer.v1","type":"truncate","gridSet":null,{any}"zoomStart":0,"zoomStop":1,',
  );
});

describe("grid sets", () => {
  for (const [code, id] of [
    [900913, "EPSG:900913"],
    [3857, "EPSG:900913"],
    [102100, "EPSG:900913"],
    [102113, "EPSG:900913"],
    [4326, "EPSG:4326"],
    [0, "EPSG:900913"],
  ] as const) {
    accepted(
      `srs ${code} is ${id} of this layer`,
      "ws:roads",
      `{"srs":{"number":${code}},"zoomStop":0}`,
      `"layer":"ws:roads","type":"seed","gridSet":"${id}",`,
    );
  }
  accepted("srs as a bare number", "ws:roads", '{"srs":4326,"zoomStop":0}', '{any}"gridSet":"EPSG:4326",');
  accepted("srs as EPSG:N", "ws:roads", '{"srs":"EPSG:4326","zoomStop":0}', '{any}"gridSet":"EPSG:4326",');
  accepted(
    "gridSetId counts when both are given",
    "ws:roads",
    '{"gridSetId":"EPSG:4326","srs":{"number":900913},"zoomStop":0}',
    '{any}"gridSet":"EPSG:4326",',
  );
});

describe("bounds", () => {
  accepted(
    "bounds are minx, miny, maxx, maxy, and the total is the tiles of the range, never widened to metatiles",
    "ws:roads",
    '{"gridSetId":"EPSG:4326","bounds":{"coords":{"double":["-124.0","22.0","66.0","72.0"]}},"zoomStart":1,"zoomStop":2}',
    '{any}"bounds":[-124,22,66,72],"zoomStart":1,"zoomStop":2,{any}"tiles":{"total":13,',
  );
  accepted(
    "bounds that reach beyond the coverage count the tiles inside it",
    "x%2Fy",
    '{"bounds":{"coords":{"double":[-180,-90,180,90]}},"zoomStart":2,"zoomStop":2}',
    '"layer":"x/y",{any}"tiles":{"total":1,',
  );
});

describe("threads", () => {
  for (const count of ["0", "-3", '"1"'])
    accepted(
      `threadCount ${count} is one task`,
      "ws:roads",
      `{"zoomStop":9,"threadCount":${count}}`,
      '{any}"tasks":[{id}],',
    );
  accepted(
    "a threadCount above the cap is the cap",
    "ws:roads",
    '{"zoomStop":9,"threadCount":100000}',
    `{any}"tasks":[${"{id},".repeat(127)}{id}],`,
  );
});

describe("types and parameters", () => {
  for (const type of ["RESEED", "Seed", " truncate "])
    accepted(
      `type ${JSON.stringify(type)} is ${type.trim().toLowerCase()}`,
      "ws:roads",
      JSON.stringify({ type, zoomStop: 0 }),
      `"layer":"ws:roads","type":"${type.trim().toLowerCase()}",`,
    );
  for (const [what, given] of [
    ["a list of entries", '{"entry":[{"string":["STYLES","a"]}]}'],
    ["a single entry", '{"entry":{"string":["STYLES","a"]}}'],
    ["pairs", '[["STYLES","a"]]'],
    ["a plain object", '{"STYLES":"a"}'],
    ["keys in another case", '{"styles":"a"}'],
  ] as const)
    accepted(
      `parameters as ${what}`,
      "ws:roads",
      `{"zoomStop":0,"parameters":${given}}`,
      '{any}"parameters":{"STYLES":"a"},',
    );
  accepted(
    "a truncate takes parameters that no filter knows as they are",
    "ws:roads",
    '{"type":"truncate","parameters":{"TIME":"2020"}}',
    '{any}"parameters":{"TIME":"2020"},',
  );
  accepted(
    "a seed of parameters that equal the defaults is the default set, as no parameters are",
    "ws:roads",
    '{"zoomStop":0,"parameters":{"STYLES":""}}',
    '{any}"parameters":{},',
  );
});

transcript(
  "more threads than work: as many rows as threads at first, and those without work leave the list",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":0,"threadCount":4}}
  < 200 text/plain
  ~ GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,1,-1,{id},1]]}
`,
);

transcript(
  "ids of tasks grow from request to request and are not those of killed ones",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":9}}
  < 200 text/plain
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,{int},-1,{id:first},{status}]]}
  > POST /rest/seed
  >
  > kill_all=all
  < 200 text/html; charset=utf-8
  <
  < {any}[{id:first}: ws:roads, SEED, {any}
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":9,"threadCount":2}}
  < 200 text/plain
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,{int},-1,{id:second},{status}],[0,{int},-1,{id:third},{status}]]}
`,
);

transcript(
  "a form with type and a zoom is a seed request, answered with a page that names the tasks",
  `
  > POST /rest/seed/ws:roads
  > Content-Type: application/x-www-form-urlencoded
  >
  > threadCount=02&type=seed&gridSetId=EPSG%3A900913&tileFormat=image%2Fpng&zoomStart=00&zoomStop=06&parameter_STYLES=a&minX=&minY=&maxX=&maxY=
  < 200 text/html; charset=utf-8
  < X-Job-Id: {id:job}
  <
  < <!DOCTYPE html>{any}<li>{id:a}</li><li>{id:b}</li>{any}
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {any}"layer":"ws:roads","type":"seed","gridSet":"EPSG:900913","format":"image/png","parameters":{"STYLES":"a"},"bounds":null,"zoomStart":0,"zoomStop":6,{any}"tasks":[{id:a},{id:b}],{any}
`,
);

transcript(
  "a form's bounds and format are read",
  `
  > POST /rest/seed/ws:roads
  >
  > type=reseed&gridSetId=EPSG%3A4326&format=image%2Fjpeg&zoomStop=2&minX=-10&minY=0&maxX=10.5&maxY=1e1
  < 200 text/html; charset=utf-8
  < X-Job-Id: {id:job}
  <
  < {any}
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {any}"type":"reseed","gridSet":"EPSG:4326","format":"image/jpeg",{any}"bounds":[-10,0,10.5,10],{any}
`,
);

transcript(
  "a seed request without extension is one when it is labelled so",
  `
  > POST /rest/seed/ws:roads
  > Content-Type: text/xml
  >
  > <seedRequest><zoomStop>0</zoomStop></seedRequest>
  < 200 text/plain
  < X-Job-Id: {id}
`,
);
transcript(
  "an empty body labelled as a seed request, without extension, is 400",
  `
  > POST /rest/seed/ws:roads
  > Content-Type: application/json
  > Content-Length: 0
  < 400 text/plain
  <
  < {line}seedRequest{any}
`,
);
