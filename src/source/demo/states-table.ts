/** State, abbreviation, persons (census of 2020, thousands), land area (thousand km²), as a choropleth needs. */
const TABLE = `Alabama,AL,5024,131;Alaska,AK,733,1478;Arizona,AZ,7152,294;Arkansas,AR,3012,135;California,CA,39538,403;Colorado,CO,5774,268;Connecticut,CT,3606,13;Delaware,DE,990,5;District of Columbia,DC,690,0.2;Florida,FL,21538,139;Georgia,GA,10712,149;Hawaii,HI,1455,17;Idaho,ID,1839,214;Illinois,IL,12813,144;Indiana,IN,6786,93;Iowa,IA,3190,145;Kansas,KS,2938,212;Kentucky,KY,4506,102;Louisiana,LA,4658,112;Maine,ME,1362,80;Maryland,MD,6177,25;Massachusetts,MA,7030,20;Michigan,MI,10077,147;Minnesota,MN,5706,206;Mississippi,MS,2961,122;Missouri,MO,6155,178;Montana,MT,1084,377;Nebraska,NE,1962,199;Nevada,NV,3105,284;New Hampshire,NH,1378,23;New Jersey,NJ,9289,19;New Mexico,NM,2118,314;New York,NY,20201,122;North Carolina,NC,10439,126;North Dakota,ND,779,179;Ohio,OH,11799,106;Oklahoma,OK,3959,178;Oregon,OR,4237,249;Pennsylvania,PA,13003,116;Rhode Island,RI,1097,3;South Carolina,SC,5118,78;South Dakota,SD,887,196;Tennessee,TN,6911,107;Texas,TX,29146,677;Utah,UT,3272,213;Vermont,VT,643,24;Virginia,VA,8631,102;Washington,WA,7705,172;West Virginia,WV,1794,62;Wisconsin,WI,5894,140;Wyoming,WY,577,251;Puerto Rico,PR,3286,9;American Samoa,AS,50,0.2;Guam,GU,154,0.5;Commonwealth of the Northern Mariana Islands,MP,47,0.5;United States Virgin Islands,VI,87,0.3`;

const rows = new Map(
  TABLE.split(";").map((line) => {
    const [name = "", abbreviation = "", persons = "0", land = "0"] = line.split(",");
    return [name, { abbreviation, persons: Number(persons) * 1000, landKm: Number(land) * 1000 }];
  }),
);

/** Returns the attributes of a state, with the names of GWC's documentation of `topp:states`. */
export function stateAttributes(name: string): Readonly<Record<string, string | number>> {
  const row = rows.get(name) ?? { abbreviation: "", persons: 0, landKm: 0 };
  return {
    STATE_NAME: name,
    STATE_ABBR: row.abbreviation,
    PERSONS: row.persons,
    TOTPOP: row.persons,
    LAND_KM: row.landKm,
  };
}
