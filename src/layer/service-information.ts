/** The contact of the provider. Capabilities omit an empty text. */
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

/** The settings of the server, beside its layers, that the tile protocols use. */
export interface ServiceOptions {
  readonly information: ServiceInformation;
  /**
   * Whether WMTS with key-value pairs checks every request as strictly as the OGC's conformance tests (CITE) demand.
   */
  readonly isCiteCompliant: boolean;
  /** Whether all layers have `fullWms`, as with GeoWebCache's `fullWMS`. */
  readonly isFullWms: boolean;
  /** The number of this state of the catalogue in capabilities. A later state has a larger number. */
  readonly updateSequence: number;
}

export const STANDARD_SERVICE: ServiceOptions = {
  information: {},
  isCiteCompliant: false,
  isFullWms: false,
  updateSequence: 0,
};
