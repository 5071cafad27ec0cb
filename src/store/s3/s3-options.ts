import type { AwsCredentials } from "../../lib/aws/aws-signature.ts";
import type { BucketOptions, BucketPlace, RemoteStoreConfiguration } from "../remote/remote-options.ts";

export type S3Credentials = AwsCredentials;

/** How the service encrypts the objects. */
export interface ServerSideEncryption {
  readonly algorithm: "AES256" | "aws:kms";
  readonly kmsKeyId?: string;
}

export interface S3Options extends BucketOptions {
  /** The address of the service without a path, such as `http://127.0.0.1:9000`. Absent: AWS, in the region. */
  readonly endpoint?: string;
  readonly region: string;
  readonly bucket: string;
  /** Absent: from the environment, a profile or a role (`accountOf`). */
  readonly credentials?: S3Credentials;
  /** The section of the profile files. Absent: `AWS_PROFILE`, then `default`. */
  readonly profile?: string;
  /**
   * True: the bucket is in the path of the address (MinIO, Ceph, most others). False: the bucket is in the host name
   * (AWS).
   */
  readonly pathStyle: boolean;
  readonly serverSideEncryption?: ServerSideEncryption;
  readonly storageClass?: string;
}

/** A store of tiles in an S3 bucket. */
export interface S3StoreConfiguration extends S3Options, RemoteStoreConfiguration {
  readonly type: "s3";
}

export const s3Place = ({ endpoint, region, bucket }: S3Options): BucketPlace => ({
  // In AWS the name of a bucket is unique across all regions.
  key: endpoint === undefined ? `aws ${bucket}` : `${new URL(endpoint).origin} ${bucket}`,
  location: `s3:${endpoint ?? region}/${bucket}`,
  url: `s3://${bucket}`,
  bucket,
});

/** Returns the keys of the configuration file that have another form in the options, including secrets. */
export const s3Document = ({
  credentials,
  serverSideEncryption,
}: Pick<S3Options, "credentials" | "serverSideEncryption">) => ({
  accessKeyId: credentials?.accessKeyId,
  secretAccessKey: credentials?.secretAccessKey,
  sessionToken: credentials?.sessionToken,
  serverSideEncryption: serverSideEncryption?.algorithm,
  kmsKeyId: serverSideEncryption?.kmsKeyId,
});
