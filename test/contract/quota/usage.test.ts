import { describe } from "vitest";
import { contractServer } from "../contract-server.ts";

const { transcript } = contractServer({
  configuration: (upstream) => `
users:
  - { name: op, password: op, roles: [operator] }
  - { name: view, password: view, roles: [viewer] }
layers:
  - { name: "ws:roads", source: { type: wms, url: ${upstream}, layers: [roads] } }
`,
});
const OPERATOR = "> Authorization: Basic b3A6b3A=";
const VIEWER = "> Authorization: Basic dmlldzp2aWV3";
const problem = (status: number, code: string, detail = "{any}") =>
  `< ${status} application/problem+json\n<\n< {"type":"about:blank","title":"{any}","status":${status},"detail":"${detail}","code":"${code}"}`;

describe("usage by tile set", () => {
  transcript(
    "empty, of one layer",
    `
    > GET /api/v1/usage?by=tileSet&layer=ws:roads
    ${VIEWER}
    < 200 application/json
    <
    < {"total":{"tiles":0,"bytes":0},"layers":[{"layer":"ws:roads","tiles":0,"bytes":0,"quota":null,{any}}],{any},"tileSets":[]}
`,
  );
  transcript("of an unknown layer", `\n> GET /api/v1/usage?layer=no:such\n${VIEWER}\n${problem(404, "unknown_layer")}`);
  transcript("by something else", `\n> GET /api/v1/usage?by=colour\n${VIEWER}\n${problem(400, "bad_field")}`);
});

describe("verification", () => {
  transcript(
    "a viewer may look and not begin one; an operator begins, looks and ends; methods are named",
    `
    > POST /api/v1/usage/verification
    ${VIEWER}
    ${problem(403, "forbidden")}
    > POST /geowebcache/api/v1/usage/verification?repair=true&layer=ws:roads
    ${OPERATOR}
    < 202 application/json
    <
    < {"state":"{word}","repair":true,{any}}
    ~ GET /api/v1/usage/verification
    ${VIEWER}
    < 200 application/json
    <
    < {"state":"done","repair":true,"startedAt":"{any}","endedAt":"{any}","tiles":0,"differing":0,"differences":[],"reason":null}
    > DELETE /api/v1/usage/verification
    ${OPERATOR}
    < 200 application/json
    <
    < {"state":"done",{any}}
    > PUT /api/v1/usage/verification
    ${OPERATOR}
    < 405 application/problem+json
    < Allow: GET, HEAD, POST, DELETE, OPTIONS
    <
    < {any}
`,
  );
  transcript(
    "what is wrong in the query is named",
    `
    > POST /api/v1/usage/verification?repair=perhaps
    ${OPERATOR}
    ${problem(400, "bad_field", "{any}repair{any}perhaps{any}")}
    > POST /api/v1/usage/verification?layer=no:such
    ${OPERATOR}
    ${problem(404, "unknown_layer")}
`,
  );
});
