import { afterAll, beforeAll, describe } from "vitest";
import { NO_S3, NO_VERSITYGW, type S3Server, startS3 } from "../../support/s3/server.ts";
import { type RemoteService, remoteCases } from "../stores/remote-cases.ts";
import { clientCases } from "./client-cases.ts";
import { copyCases } from "./copy-cases.ts";
import { diskTierCases } from "./disk-tier-cases.ts";
import { serverCases } from "./server-cases.ts";

const SERVICES = [
  { service: "SeaweedFS", missing: NO_S3 },
  { service: "versitygw", missing: NO_VERSITYGW },
] as const;

for (const { service, missing } of SERVICES) {
  /** One service for all of them: it takes seconds to start. */
  describe.skipIf(missing !== undefined)(`S3, by ${service}`, () => {
    let server: S3Server | undefined;
    beforeAll(async () => {
      server = await startS3(service);
    });
    afterAll(() => server?.[Symbol.asyncDispose]());
    const started = (): S3Server => {
      if (server === undefined) throw new Error("the service has not been started");
      return server;
    };
    describe("the client", () => clientCases(started));
    describe("the store", () => remoteCases(() => remoteService(started())));
    describe("a server with its tiles there", () => serverCases(started));
    describe("a copy of a layer", () => copyCases(started));
    describe("a disk tier in front of it", () => diskTierCases(started));
  });
}

const remoteService = ({ options }: S3Server): RemoteService => ({
  options: (prefix, namesFile) => ({ ...options(prefix), namesFile }),
  away: (store) => ({ ...store, endpoint: "http://127.0.0.1:1" }),
  nowhere: (store) => ({ ...store, bucket: "nowhere" }),
  unknownBucket: "NoSuchBucket",
});
