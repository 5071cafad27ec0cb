/** A name on the water. */
export interface SeaName {
  readonly lines: readonly string[];
  readonly lon: number;
  readonly lat: number;
  /** The width of the name, in degrees of longitude. */
  readonly widthDegrees: number;
}

/** Lines, longitude, latitude, width in degrees. Large names first. */
const TABLE = `North/Pacific Ocean,-152,32,38;South/Pacific Ocean,-122,-33,44;North/Atlantic Ocean,-42,29,26;South/Atlantic Ocean,-16,-27,24;Indian Ocean,78,-24,36;Southern Ocean,22,-58,50;Philippine Sea,134,19,13;Tasman Sea,160,-39,12;Coral Sea,155,-17,9;Arabian Sea,64.5,14.5,11;Bay of/Bengal,88.5,14.5,7;South/China Sea,114,14.3,7;Bering Sea,-176,58,11;Sea of/Okhotsk,150,54.5,9;Norwegian/Sea,2.5,67.5,10;Greenland/Sea,-6,76,12;Barents Sea,38,74.5,14;Labrador/Sea,-54,58,9;Hudson/Bay,-86,59.8,7;Gulf of/Mexico,-90.5,25.2,8;Caribbean Sea,-75,15,9;Gulf of/Alaska,-146,57.2,9;Beaufort Sea,-140,72.5,14;Mediterranean Sea,18.5,34.4,9;Black Sea,34.5,43.3,7;North/Sea,3.2,56.4,4;Baltic/Sea,19.6,57.2,2.6;Bay of/Biscay,-4.5,45.4,4.4;Caspian/Sea,50.6,41.6,2.6;Gulf of/Guinea,3,2.5,7;Mozambique/Channel,41,-18.6,4.5;Weddell/Sea,-42,-71,15;Ross/Sea,-172,-74.5,12;Red Sea,38,20.3,2.4;Arafura/Sea,135,-9.4,6;Great Australian/Bight,130,-34.5,10`;

export const SEA_NAMES: readonly SeaName[] = TABLE.split(";").map((row) => {
  const [lines = "", lon, lat, widthDegrees] = row.split(",");
  return { lines: lines.split("/"), lon: Number(lon), lat: Number(lat), widthDegrees: Number(widthDegrees) };
});
