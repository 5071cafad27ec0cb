import type { AwsCredentials } from "../../lib/aws/aws-signature.ts";

export type S3Credentials = AwsCredentials;

/** How the service encrypts the objects. */
export interface ServerSideEncryption {
  readonly algorithm: "AES256" | "aws:kms";
  readonly kmsKeyId?: string;
}

export interface S3Options {
  /** The id of the store in the configuration, for messages. */
  readonly id: string;
  /** The address of the service without a path, such as `http://127.0.0.1:9000`. Absent: AWS, in the region. */
  readonly endpoint?: string;
  readonly region: string;
  readonly bucket: string;
  /** The prefix of all keys, without a slash at its ends; "" for no prefix. */
  readonly prefix: string;
  /** Absent: from the environment, then from the profile (`credentialsOf`). */
  readonly credentials?: S3Credentials;
  /** The section of the profile files. Absent: `AWS_PROFILE`, then `default`. */
  readonly profile?: string;
  /**
   * True: the bucket is in the path of the address (MinIO, Ceph, most others). False: the bucket is in the host name
   * (AWS).
   */
  readonly pathStyle: boolean;
  /** A file of trusted certificates in PEM form, which replace Node's list. */
  readonly caFile?: string;
  readonly serverSideEncryption?: ServerSideEncryption;
  readonly storageClass?: string;
  /** The time limit in ms of one operation including all its attempts. */
  readonly timeoutMs: number;
  /** The most connections of a process. */
  readonly connections: number;
  /** The service refuses a put that arrives later than this many seconds after its beginning. */
  readonly putSeconds: number;
}

export interface S3StoreOptions extends S3Options {
  /** A file on this machine with the names of the generations, which all processes of the server read. */
  readonly namesFile: string;
  /**
   * Whether this process and thread truncate and count (the coordinator). All other processes and threads only read and
   * write tiles.
   */
  readonly isOwner: boolean;
}
