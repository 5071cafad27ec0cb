import { describe } from "vitest";
import { contractServer, KILL_ALL } from "./contract-server.ts";
import { layers } from "./layers.ts";

// Contract 4.3 and decisions 5. One task runs at a time and never ends: the others are pending.
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
