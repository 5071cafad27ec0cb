import { basename } from "node:path";

/**
 * The address of a service that all servers of this run have their tiles in (`withStore` of `server.ts`). The setup of
 * a run starts the service when `NUTHATCH_TEST_S3` is `SeaweedFS` or `versitygw`.
 */
export const S3_OF_ALL = process.env["NUTHATCH_TEST_S3"];

/** Returns the prefix of the server with a data directory there. */
export const prefixOf = (dataDir: string): string => basename(dataDir);
