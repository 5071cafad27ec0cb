import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Kill and Task list. One task runs at a time and never ends: all other tasks are
// pending.
const { transcript } = contractServer({
  configuration: (url) => layers(url, "jobs: { maxRunningTasks: 1 }"),
  hanging: true,
  before: KILL_ALL,
});

/** A running task of ws:roads, named `a`, and a pending one of x/y, named `b`. */
const TWO = `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":1}}
  < 200 text/plain
  ~ GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id:a},1]]}
  > POST /rest/seed/x%2Fy.json
  >
  > {"seedRequest":{"zoomStop":0,"type":"reseed"}}
  < 200 text/plain
  > GET /rest/seed/x%2Fy.json
  < 200 application/json
  <
  < {"long-array-array":[[0,1,-1,{id:b},0]]}
`;
const NONE = "";
const A = "[0,5,-1,{id:a},1]";
const B = "[0,1,-1,{id:b},{status}]";
const list = (rows: string): string => `
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[${rows}]}
`;
const killed = (...tasks: string[]): string =>
  `<!DOCTYPE html>{any}<ul>${tasks.map((t) => `<li>[${t}]</li>`).join("")}</ul>{any}</html>\n  < `;
const A_RUNNING = "{id:a}: ws:roads, SEED, RUNNING";
const B_PENDING = "{id:b}: x/y, RESEED, PENDING";

const kill = (sentence: string, request: string, page: string, left: string): void =>
  transcript(
    sentence,
    `${TWO}
    ${request}
    < 200 text/html; charset=utf-8
    <
    < ${page}
    ${list(left)}
  `,
  );

const post = (value: string, path = "/rest/seed", headers = ""): string =>
  `> POST ${path}\n${headers === "" ? "" : `> ${headers}\n`}>\n> ${value}`;

describe("kill_all", () => {
  kill("kill_all=all ends pending and running tasks", post("kill_all=all"), killed(A_RUNNING, B_PENDING), NONE);
  kill("kill_all=running ends running tasks only", post("kill_all=running"), killed(A_RUNNING), B);
  kill("kill_all=1 is running", post("kill_all=1"), killed(A_RUNNING), B);
  kill("kill_all=pending ends pending tasks only", post("kill_all=pending"), killed(B_PENDING), A);
  kill("the value's case does not matter", post("kill_all=PenDing"), killed(B_PENDING), A);
  kill("with a layer only its tasks are ended", post("kill_all=all", "/rest/seed/ws:roads"), killed(A_RUNNING), B);
  kill("on the other layer", post("kill_all=all", "/rest/seed/x%2Fy"), killed(B_PENDING), A);
  kill(
    "a layer without such tasks ends none, and the page says so",
    post("kill_all=running", "/rest/seed/x%2Fy"),
    "<!DOCTYPE html>{any}There were none{any}",
    `${A},${B}`,
  );
  kill("in the query, without a body", "> POST /rest/seed?kill_all=all", killed(A_RUNNING, B_PENDING), NONE);
  kill("in the query of a layer", "> POST /rest/seed/ws:roads?kill_all=all\n> Content-Length: 0", killed(A_RUNNING), B);
  kill(
    "twice with the same value is once",
    post("kill_all=running&kill_all=1", "/rest/seed?kill_all=RUNNING"),
    killed(A_RUNNING),
    B,
  );
  for (const type of [
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=UTF-8",
    "text/plain",
    "text/xml",
    "application/json",
    "what/ever",
  ])
    kill(
      `under Content-Type ${type}`,
      post("kill_all=all", "/rest/seed/ws:roads", `Content-Type: ${type}`),
      killed(A_RUNNING),
      B,
    );
  kill(
    "the answer is a page whatever Accept says",
    post("kill_all=all", "/rest/seed", "Accept: application/json"),
    killed(A_RUNNING, B_PENDING),
    NONE,
  );
  kill(
    "GWC's form with a submit button",
    post("kill_all=all&submit=Kill", "/rest/seed/ws:roads"),
    killed(A_RUNNING),
    B,
  );
  kill(
    "a form that holds seed fields too is a kill",
    post("kill_all=all&type=seed&zoomStart=0&zoomStop=3", "/rest/seed/ws:roads"),
    killed(A_RUNNING),
    B,
  );
  kill(
    "multipart, as curl -F sends it",
    `> POST /rest/seed
    > Content-Type: multipart/form-data; boundary=X
    >
    > --X
    > Content-Disposition: form-data; name="kill_all"
    >
    > all
    > --X--`,
    killed(A_RUNNING, B_PENDING),
    NONE,
  );
});

describe.each([".json", ".xml"])("on /rest/seed/LAYER%s", (extension) => {
  const own = `/rest/seed/ws:roads${extension}`;
  for (const type of ["application/x-www-form-urlencoded", "text/plain", "text/xml", "application/json", "what/ever"])
    kill(
      `kill_all under Content-Type ${type} ends the layer's tasks`,
      post("kill_all=all", own, `Content-Type: ${type}`),
      killed(A_RUNNING),
      B,
    );
  kill("kill_all without a Content-Type", post("kill_all=1", own), killed(A_RUNNING), B);
  kill("the value's case does not matter", post("kill_all=RUNNING", own), killed(A_RUNNING), B);
  kill("kill_all in the query, without a body", `> POST ${own}?kill_all=all`, killed(A_RUNNING), B);
  kill(
    "kill_all in the query, with a Content-Type and an empty body",
    `> POST ${own}?kill_all=all\n> Content-Type: application/json\n> Content-Length: 0`,
    killed(A_RUNNING),
    B,
  );
  kill("kill_all in the query, and a body of blanks", post(" ", `${own}?kill_all=all`), killed(A_RUNNING), B);
  kill("kill_thread ends one task", post("kill_thread=1&thread_id={id:a}", own), killed(A_RUNNING), B);
  kill("kill_thread in the query", `> POST ${own}?kill_thread=1&thread_id={id:a}`, killed(A_RUNNING), B);
  kill(
    "kill_thread comes before kill_all, and that before seed fields",
    post("type=seed&zoomStop=1&kill_all=pending&kill_thread=1&thread_id={id:a}", own),
    killed(A_RUNNING),
    B,
  );
  kill("kill_all comes before seed fields", post("type=seed&zoomStop=1&kill_all=all", own), killed(A_RUNNING), B);
  transcript(
    "the fields of the seed form are a seed request, answered with a page",
    `
    > POST ${own}
    >
    > threadCount=1&type=seed&gridSetId=EPSG%3A900913&tileFormat=image%2Fpng&zoomStart=0&zoomStop=1
    < 200 text/html; charset=utf-8
    < X-Job-Id: {id}
    <
    < {any}<ul><li>{id:task}</li></ul>{any}
    > GET /rest/seed.json
    < 200 application/json
    <
    < {"long-array-array":[[0,5,-1,{id:task},{status}]]}
  `,
  );
  for (const [sentence, body] of [
    ["after blanks and in the other format, is a seed request", '  {"seedRequest":{"zoomStop":1}}'],
    ["is one though the query says kill_all", "<seedRequest><zoomStop>1</zoomStop></seedRequest>"],
  ])
    transcript(
      `what begins as a seed request, ${sentence}`,
      `
      > POST ${own}${body?.startsWith("<") ? "?kill_all=all" : ""}
      >
      > ${body}
      < 200 text/plain
      < X-Job-Id: {id}
      > GET /rest/seed.json
      < 200 application/json
      <
      < {"long-array-array":[[0,5,-1,{id},{status}]]}
    `,
    );
});

describe("what is refused kills nothing", () => {
  const refused = (sentence: string, request: string, words: string): void =>
    transcript(
      sentence,
      `${TWO}
      ${request}
      < 400 text/plain
      <
      < ${words}
      ${list(`${A},${B}`)}
    `,
    );
  const expects = (got: string) => `kill_all: expected all, running, pending or 1, got ${got}`;
  refused("an unknown value", post("kill_all=everything"), expects('"everything"'));
  refused("an empty value", post("kill_all="), "kill_all: expected all, running, pending or 1{any}");
  refused("0", post("kill_all=0"), expects('"0"'));
  refused("no kill_all", post("foo=bar"), expects("nothing"));
  refused("an empty body", "> POST /rest/seed\n> Content-Length: 0", expects("nothing"));
  refused("no body at all", "> POST /rest/seed", expects("nothing"));
  const neither = (got: string) =>
    `kill_all: expected all, running, pending or 1, or a seedRequest document as XML or JSON in the body, got ${got}`;
  for (const path of ["/rest/seed/ws:roads", "/rest/seed/ws:roads.json", "/rest/seed/ws:roads.xml"]) {
    refused(`an empty body on ${path}`, `> POST ${path}\n> Content-Length: 0`, neither("an empty body"));
    refused(`no body at all on ${path}`, `> POST ${path}`, neither("an empty body"));
    for (const type of ["text/xml", "application/json"])
      refused(
        `an empty body labelled ${type} on ${path}`,
        `> POST ${path}\n> Content-Type: ${type}\n> Content-Length: 0`,
        neither("an empty body"),
      );
    refused(`a body that is neither on ${path}`, post("rubbish", path), neither('"rubbish"'));
    refused(`a seed form of too few fields on ${path}`, post("type=seed", path), neither('"type=seed"'));
    refused(`an unknown value on ${path}`, post("kill_all=everything", path), expects('"everything"'));
    refused(
      `a thread that is no number on ${path}`,
      post("kill_thread=1&thread_id=x", path),
      'thread_id: expected the number of a task, got "x"',
    );
  }
  transcript(
    "POST /rest/seed.json and .xml is 405, a kill or not",
    ["json", "xml"]
      .map(
        (ext) =>
          `> POST /rest/seed.${ext}\n>\n> kill_all=all\n< 405 text/plain\n< Allow: GET, HEAD, OPTIONS\n<\n< {any}`,
      )
      .join("\n"),
  );
  refused(
    "given twice with different values",
    post("kill_all=all&kill_all=pending"),
    "kill_all: expected one value{any}all, running, pending{any}",
  );
  refused(
    "body and query that differ",
    post("kill_all=all", "/rest/seed?kill_all=running"),
    "kill_all: expected one value{any}",
  );
  refused("an unknown layer", post("kill_all=all", "/rest/seed/no:such"), "Unknown layer: no:such");
  refused("JSON is no form", post('{"kill_all":"all"}'), expects("nothing"));
  refused(
    "a seed request without a layer",
    post("<seedRequest/>", "/rest/seed", "Content-Type: text/xml"),
    expects("nothing"),
  );
  refused(
    "a task without a number",
    post("kill_thread=1&thread_id=x", "/rest/seed/ws:roads"),
    "thread_id: expected {any}",
  );
  refused("a task without an id", post("kill_thread=1", "/rest/seed/ws:roads"), "thread_id: expected {any}");
});

describe("kill_thread", () => {
  kill("one task by its id", post("kill_thread=1&thread_id={id:a}", "/rest/seed/ws:roads"), killed(A_RUNNING), B);
  kill("a pending one", post("thread_id={id:b}&kill_thread=1", "/rest/seed/x%2Fy"), killed(B_PENDING), A);
  kill("in the query", "> POST /rest/seed/x%2Fy?kill_thread=1&thread_id={id:b}", killed(B_PENDING), A);
  kill(
    "a task of another layer is not ended, and the answer is 200",
    post("kill_thread=1&thread_id={id:b}", "/rest/seed/ws:roads"),
    "<!DOCTYPE html>{any}There were none{any}",
    `${A},${B}`,
  );
  kill(
    "a task that does not exist: 200",
    post("kill_thread=1&thread_id=987654321", "/rest/seed/ws:roads"),
    "<!DOCTYPE html>{any}There were none{any}",
    `${A},${B}`,
  );
  kill(
    "kill_thread comes before kill_all",
    post("kill_all=all&kill_thread=1&thread_id={id:a}", "/rest/seed/ws:roads"),
    killed(A_RUNNING),
    B,
  );
});

transcript(
  "one of a job's tasks is killed: the other takes over its share, and the job goes on",
  `
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStart":5,"zoomStop":5,"threadCount":2}}
  < 200 text/plain
  < X-Job-Id: {id:job}
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,512,-1,{id:a},{status}],[0,512,-1,{id:b},{status}]]}
  > POST /rest/seed/ws:roads
  >
  > kill_thread=1&thread_id={id:b}
  < 200 text/html; charset=utf-8
  <
  < {any}[{id:b}: ws:roads, SEED, {any}
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,1024,-1,{id:a},{status}]]}
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {any}"outcome":null{any}
  > POST /rest/seed/ws:roads
  >
  > kill_thread=1&thread_id={id:a}
  < 200 text/html; charset=utf-8
  <
  < {any}
  > GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {any}"state":"aborted","outcome":"aborted",{any}
`,
);

transcript(
  "a task that is sent right after a kill survives it",
  `
  > POST /rest/seed
  >
  > kill_all=all
  < 200 text/html; charset=utf-8
  <
  < {any}
  > POST /rest/seed/ws:roads.json
  >
  > {"seedRequest":{"zoomStop":1}}
  < 200 text/plain
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[[0,5,-1,{id},{status}]]}
`,
);

transcript(
  "a layer's name is escaped in the page",
  `
  > POST /rest/seed/%3Cb%3E&amp.json
  >
  > {"seedRequest":{"zoomStop":1}}
  < 400 text/plain
  <
  < Unknown layer: <b>&amp
`,
);
