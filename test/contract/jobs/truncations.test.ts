import { contractServer } from "../contract-server.ts";
import { layers } from "../layers.ts";

// Issue 6: truncations are listed, made, taken back and reclaimed over /api/v1.
const { transcript } = contractServer({ configuration: (url) => layers(url) });

const made = (fields: string): string =>
  `${fields},"createdAt":"{time}","createdBy":null,"undoUntil":null,"endedAt":null,"endedBy":null,`;

for (const mount of ["", "/geowebcache"])
  transcript(
    `under "${mount}" truncations of both interfaces are listed, newest first, and found`,
    `
    > POST ${mount}/api/v1/truncations
    >
    > {"layer":"x/y","type":null,"mode":"hard"}
    < 201 application/json
    < Location: http://localhost${mount}/api/v1/truncations/{id:made}
    <
    < {"id":{id:made},${made('"layer":"x/y","type":"truncateLayer","mode":"hard","parameters":null,"state":"reclaimed"')}"tiles":0,"bytes":0,"discarded":null}
    > GET ${mount}/api/v1/truncations/{id:made}
    < 200 application/json
    <
    < {"id":{id:made},"layer":"x/y",{any}
    > POST ${mount}/rest/masstruncate
    >
    > <truncateParameters><layerName>x/y</layerName><parameters><entry><string>A</string><string>b</string></entry></parameters></truncateParameters>
    < 200 text/plain
    < Content-Length: 0
    < Link: <http://localhost${mount}/api/v1/truncations/{id:classic}>; rel="monitor"
    > GET ${mount}/api/v1/truncations?layer=x/y&limit=1&state=reclaimed
    < 200 application/json
    <
    < {"truncations":[{"id":{id:classic},"layer":"x/y","type":"truncateParameters","mode":"hard","parameters":{"A":"b"},"state":"reclaimed",{any}}]}
    > GET ${mount}/api/v1/truncations?layer=x/y&limit=1&after={id:classic}
    < 200 application/json
    <
    < {"truncations":[{"id":{id:made},{any}}]}
    > POST ${mount}/api/v1/truncations/{id:made}/undo
    < 409 application/problem+json
    <
    < {any}"detail":"The space of truncation {id:made} has been reclaimed.","code":"conflict"}
    > DELETE ${mount}/api/v1/truncations/{id:made}
    < 409 application/problem+json
    <
    < {any}
  `,
  );

transcript(
  "a soft truncation is taken back, keeps no space, and is not taken back twice",
  `
  > POST /api/v1/truncations
  >
  > {"layer":"a+b","mode":"soft"}
  < 201 application/json
  <
  < {"id":{id:soft},${made('"layer":"a+b","type":"truncateLayer","mode":"soft","parameters":null,"state":"kept"')}"tiles":0,"bytes":0,"discarded":null}
  > DELETE /api/v1/truncations/{id:soft}
  < 409 application/problem+json
  <
  < {any}"detail":"Truncation {id:soft} is a soft truncation: it keeps no space.","code":"conflict"}
  > POST /api/v1/truncations/{id:soft}/undo
  < 200 application/json
  <
  < {"id":{id:soft},{any}"state":"undone",{any}"endedAt":"{time}",{any}
  > POST /api/v1/truncations/{id:soft}/undo
  < 409 application/problem+json
  <
  < {any}
`,
);

for (const [sentence, body, status, detail] of [
  ["no layer", '{"mode":"soft"}', 400, "layer: expected the name of a layer, got null"],
  ["an unknown layer", '{"layer":"none"}', 404, "Unknown layer: none"],
  ["an unknown field", '{"layer":"x/y","Mode":"soft"}', 400, 'Mode: unknown field, expected mode, got \\"soft\\"'],
  ["an unknown mode", '{"layer":"x/y","mode":"sft"}', 400, 'mode: expected one of hard, soft, got \\"sft\\"'],
  [
    "an extent, which is a job",
    '{"layer":"x/y","type":"truncateExtent"}',
    400,
    'type: expected one of truncateLayer, truncateParameters, truncateOrphans, got \\"truncateExtent\\"',
  ],
  [
    "a part of a layer softly",
    '{"layer":"x/y","type":"truncateOrphans","mode":"soft"}',
    400,
    'mode: expected hard for truncateOrphans: only a whole layer is softened, got \\"soft\\"',
  ],
  [
    "no parameters where they are needed",
    '{"layer":"x/y","type":"truncateParameters"}',
    400,
    "parameters: expected an object with at least one key and value, got null",
  ],
  [
    "parameters where there are none",
    '{"layer":"x/y","parameters":{"A":"b"}}',
    400,
    'parameters: expected none for truncateLayer, got {\\"A\\":\\"b\\"}',
  ],
] as const)
  transcript(
    `${sentence} is refused by name, and nothing is truncated`,
    `
    > POST /api/v1/truncations
    >
    > ${body}
    < ${status} application/problem+json
    <
    < {any}"detail":"${detail}",{any}
  `,
  );

for (const [query, detail] of [
  ["state=gone", 'state: expected one of kept, undoing, undone, reclaimed, got \\"gone\\"'],
  ["limit=0", 'limit: expected a whole number from 1 to 1000, got \\"0\\"'],
  ["after=x", 'after: expected the id of a truncation, got \\"x\\"'],
] as const)
  transcript(
    `a list with ${query} is refused by name`,
    `
    > GET /api/v1/truncations?${query}
    < 400 application/problem+json
    <
    < {any}"detail":"${detail}",{any}
  `,
  );

transcript(
  "an unknown truncation is 404 for every method",
  `
  > GET /api/v1/truncations/999999
  < 404 application/problem+json
  <
  < {any}"detail":"Unknown truncation: 999999","code":"unknown_truncation"}
  > DELETE /api/v1/truncations/999999
  < 404 application/problem+json
  <
  < {any}
  > POST /api/v1/truncations/999999/undo
  < 404 application/problem+json
  <
  < {any}
  > GET /api/v1/truncations/x
  < 404 application/problem+json
  <
  < {any}
  > GET /api/v1/truncations/1/undo/2
  < 404 application/problem+json
  <
  < {any}
`,
);

transcript(
  "a dry run tells what would go and truncates nothing; other fields of the query are refused",
  `
  > POST /api/v1/truncations?dryRun=true
  >
  > {"layer":"x/y","type":"truncateParameters","parameters":{"A":"b"}}
  < 200 application/json
  <
  < {"layer":"x/y","type":"truncateParameters","mode":"hard","parameters":{"A":"b"},"tiles":0,"bytes":0,"bytesOnDisk":0,"complete":true}
  > POST /api/v1/truncations?dryrun=true
  >
  > {"layer":"x/y"}
  < 400 application/problem+json
  <
  < {any}"detail":"dryrun: unknown field of the query, expected dryRun",{any}
  > POST /api/v1/truncations?dryRun=true
  >
  > {"layer":"none"}
  < 404 application/problem+json
  <
  < {any}
`,
);
