import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Task list and Seed request. One task runs at a time, so that pending ones can be seen.
const { transcript } = contractServer({
  configuration: (url) => layers(url, "jobs: { maxRunningTasks: 1 }"),
  hanging: true,
  before: KILL_ALL,
});

transcript(
  "the idle list is exactly an empty array, compact, without a line break",
  `
  > GET /rest/seed.json
  < 200 application/json
  < Content-Length: 23
  <
  < {"long-array-array":[]}
  > GET /rest/seed/ws:roads.json
  < 200 application/json
  <
  < {"long-array-array":[]}
`,
);

transcript(
  "a row is processed, total, remaining seconds (-1 while unknown), id and status; totals add up to the job's",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStart":0,"zoomStop":1}}
  < 200 text/plain
  ~ GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id:first},1]]}
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStart":2,"zoomStop":2}}
  < 200 text/plain
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id:first},1],[0,16,-1,{id:second},0]]}
`,
);

transcript(
  "the list of a layer holds the tasks of that layer only, the global one all",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":1}}
  < 200 text/plain
  ~ GET /rest/seed/ws:roads.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id:roads},1]]}
  > POST /rest/seed/x%2Fy.json
  >
  > {"seedRequest":{"zoomStop":0}}
  < 200 text/plain
  > GET /rest/seed/x%2Fy.json
  < 200 application/json
  <
  < {"long-array-array":[[0,1,-1,{id:other},0]]}
  > GET /rest/seed/ws:roads.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id:roads},1]]}
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id:roads},1],[0,1,-1,{id:other},0]]}
`,
);

transcript(
  "a truncate leaves the list when it is done, though the upstream hangs",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"type":"truncate","threadCount":4}}
  < 200 text/plain
  < X-Job-Id: {id:job}
  ~ GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {"id":{id:job},{any}"state":"done","outcome":"done",{any}"deleted":0{any}
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[]}
`,
);

transcript(
  "rows have no loss for totals beyond 2^53",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStart":29,"zoomStop":29}}
  < 200 text/plain
  ~ GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,288230376151711744,-1,{id},1]]}
`,
);

const twin = (sentence: string, path: string, accept: string, type: string, body: string): void =>
  transcript(
    sentence,
    `
    > GET ${path}
    > Accept: ${accept}
    < 200 ${type}
    <
    < ${body}
  `,
  );
const JSON_IDLE = '{"long-array-array":[]}';
const XML_IDLE = "<long-array-array/>";
twin("with .xml and Accept XML the list is XML", "/rest/seed.xml", "application/xml", "application/xml", XML_IDLE);
twin("the layer's with .xml and text/xml", "/rest/seed/ws:roads.xml", "text/xml", "application/xml", XML_IDLE);
twin(
  "with .xml and XML before JSON it is XML",
  "/rest/seed.xml",
  "text/xml, application/json",
  "application/xml",
  XML_IDLE,
);
twin(
  "with .xml and JSON before XML it is JSON",
  "/rest/seed.xml",
  "application/json, text/xml",
  "application/json",
  JSON_IDLE,
);
twin("with .xml and any Accept it is JSON", "/rest/seed/ws:roads.xml", "*/*", "application/json", JSON_IDLE);
twin("with .xml and no Accept it is JSON", "/rest/seed.xml", "{absent}", "application/json", JSON_IDLE);
twin("with .json it is JSON whatever Accept says", "/rest/seed.json", "text/xml", "application/json", JSON_IDLE);
twin("a weight of nought for XML is not a wish", "/rest/seed.xml", "text/xml;q=0, */*", "application/json", JSON_IDLE);

transcript(
  "the XML twin holds the same five numbers",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":1}}
  < 200 text/plain
  ~ GET /rest/seed.xml
  > Accept: application/xml
  < 200 application/xml
  <
  < <long-array-array><long-array><long>0</long><long>5</long><long>-1</long><long>{id}</long><long>1</long></long-array></long-array-array>
`,
);

transcript(
  "an unknown layer's list is 400",
  `
  > GET /rest/seed/no:such.json
  < 400 text/plain
  <
  < Unknown layer: no:such
  > GET /rest/seed/no:such.xml
  < 400 text/plain
  <
  < Unknown layer: no:such
`,
);

transcript(
  "a GET with an empty or any body labelled JSON is answered, and GET changes nothing",
  `
  > GET /rest/seed.json
  > Content-Type: application/json
  > Content-Length: 0
  < 200 application/json
  <
  < {"long-array-array":[]}
  > GET /rest/seed/ws:roads.json
  > Content-Type: application/json
  >
  > {"seedRequest":{"zoomStop":9}}
  < 200 application/json
  <
  < {"long-array-array":[]}
  > GET /rest/seed.json?kill_all=all
  < 200 application/json
  <
  < {"long-array-array":[]}
`,
);

transcript(
  "a browser that opens the seed resource gets a 405 with a page that links to the start page",
  `
  > GET /rest/seed/ws:roads
  > Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
  < 405 text/html; charset=utf-8
  < Allow: POST, OPTIONS
  <
  < <!DOCTYPE html>{any}POST, OPTIONS{any}href="/"{any}
  > GET /rest/seed
  > Accept: text/html
  < 405 text/html; charset=utf-8
  <
  < {any}href="/"{any}
`,
);
