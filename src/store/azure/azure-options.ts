import type { BucketOptions, BucketPlace, RemoteStoreConfiguration } from "../remote/remote-options.ts";

export interface AzureOptions extends BucketOptions {
  /** The address of the service, which may have a path. Absent: Azure's own, by the name of the account. */
  readonly endpoint?: string;
  readonly container: string;
  readonly accountName: string;
  /** The key of the account, in base64. */
  readonly accountKey: string;
}

/** A store of tiles in a container of Azure Blob Storage. */
export interface AzureStoreConfiguration extends AzureOptions, RemoteStoreConfiguration {
  readonly type: "azure";
}

/** Returns the address of the service. */
export const azureAddress = ({ endpoint, accountName }: Pick<AzureOptions, "endpoint" | "accountName">): URL =>
  new URL(endpoint ?? `https://${accountName}.blob.core.windows.net`);

export function azurePlace(options: AzureOptions): BucketPlace {
  const { origin, pathname } = azureAddress(options);
  const address = `${origin}${pathname.replace(/\/$/, "")}`;
  const { container } = options;
  return {
    key: `${address} ${container}`,
    location: `azure:${address}/${container}`,
    url: `azure://${options.accountName}/${container}`,
    bucket: container,
  };
}
