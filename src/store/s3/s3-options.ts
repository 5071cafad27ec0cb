/** The keys of an account of an S3 service. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The session token of temporary keys. */
  readonly sessionToken?: string;
}

/** The objects are encrypted by the service. */
export interface ServerSideEncryption {
  readonly algorithm: "AES256" | "aws:kms";
  readonly kmsKeyId?: string;
}

export interface S3Options {
  /** The id of the store in the configuration. Messages name it. */
  readonly id: string;
  /** The address of the service, without a path: `http://127.0.0.1:9000`. Absent: AWS, in the region. */
  readonly endpoint?: string;
  readonly region: string;
  readonly bucket: string;
  /** The beginning of all keys, without a slash at its ends; "" for none. */
  readonly prefix: string;
  /** Absent: the environment, then the profile (`credentialsOf`). */
  readonly credentials?: S3Credentials;
  /** The section of the profile files. Absent: `AWS_PROFILE`, then `default`. */
  readonly profile?: string;
  /** True: the bucket is in the path of the address (MinIO, Ceph, most others). False: in the host name (AWS). */
  readonly pathStyle: boolean;
  /** A file of certificates in PEM form, to trust instead of Node's. */
  readonly caFile?: string;
  readonly serverSideEncryption?: ServerSideEncryption;
  readonly storageClass?: string;
  /** The time limit of one operation with all its tries. */
  readonly timeoutMs: number;
  /** The most connections of a process. */
  readonly connections: number;
  /** A put is refused by the service when it arrives later than this after its beginning. */
  readonly putSeconds: number;
}

export interface S3StoreOptions extends S3Options {
  /** A file on this machine for the names of the generations, which all processes of the server read. */
  readonly namesFile: string;
  /** The process and thread that truncate and count: the coordinator. All others only read and write tiles. */
  readonly isOwner: boolean;
}
