/** The contact of the provider. An empty text is left out of capabilities. */
export interface ServiceContact {
  readonly individualName?: string;
  readonly positionName?: string;
  readonly addressType?: string;
  readonly addressStreet?: string;
  readonly addressCity?: string;
  readonly addressAdministrativeArea?: string;
  readonly addressPostalCode?: string;
  readonly addressCountry?: string;
  readonly phoneNumber?: string;
  readonly faxNumber?: string;
  readonly addressEmail?: string;
}

/** The description of the server in the capabilities of WMTS, WMS and TMS (GeoWebCache's `serviceInformation`). */
export interface ServiceInformation {
  readonly title?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly serviceProvider?: {
    readonly providerName?: string;
    readonly providerSite?: string;
    readonly serviceContact?: ServiceContact;
  };
  readonly fees?: string;
  readonly accessConstraints?: string;
}

/** The properties of the server that the tile protocols show or obey, beside the layers. */
export interface ServiceOptions {
  readonly information: ServiceInformation;
  /** WMTS by key and value checks every request as the conformance tests of the OGC (CITE) demand it. */
  readonly isCiteCompliant: boolean;
}

export const STANDARD_SERVICE: ServiceOptions = { information: {}, isCiteCompliant: false };
