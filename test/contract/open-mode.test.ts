import { contractServer } from "./contract-server.ts";

// Decisions 2: no user is configured, and the server listens on loopback.
const { transcript } = contractServer();

for (const header of [
  "Authorization: Basic Z2Vvc2VydmVyOmdlb3NlcnZlcg==",
  "Authorization: Basic %%%",
  "Authorization: Bearer x",
])
  transcript(
    `credentials sent to an open server are ignored: ${header}`,
    `
    > GET /rest/seed.json
    > ${header}
    < 200 application/json
    <
    < {"long-array-array":[]}
  `,
  );
