/**
 * Returns a `geowebcache.xml` with nearly every element that GeoWebCache has. `directory`: where its stores are;
 * `upstream`: the address of the WMS.
 */
export const realisticFile = (directory: string, upstream: string): string => `<?xml version="1.0" encoding="utf-8"?>
<gwcConfiguration xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://geowebcache.org/schema/1.27.0"
  xsi:schemaLocation="http://geowebcache.org/schema/1.27.0 http://geowebcache.org/schema/1.27.0/geowebcache.xsd">
  <version>1.27.0</version>
  <backendTimeout>60</backendTimeout>
  <wmtsCiteCompliant>false</wmtsCiteCompliant>
  <lockProvider>nioLock</lockProvider>
  <cacheBypassAllowed>false</cacheBypassAllowed>
  <runtimeStats>true</runtimeStats>
  <serviceInformation>
    <title>City of Example tiles</title><description>Base maps and orthophotos</description>
    <keywords><string>WMTS</string><string>basemap</string></keywords>
    <serviceProvider>
      <providerName>City of Example</providerName><providerSite>http://127.0.0.1:8080/</providerSite>
      <serviceContact><individualName>Jo Doe</individualName><positionName>GIS</positionName><addressType>Work</addressType><addressStreet>1 Main St.</addressStreet><addressCity>Example</addressCity><addressAdministrativeArea>EX</addressAdministrativeArea><addressPostalCode>1234</addressPostalCode><addressCountry>XX</addressCountry><phoneNumber>+00 1</phoneNumber><faxNumber>+00 2</faxNumber><addressEmail>gis@example.org</addressEmail></serviceContact>
    </serviceProvider>
    <fees>NONE</fees><accessConstraints>NONE</accessConstraints>
  </serviceInformation>
  <httpUsername>gwc</httpUsername>
  <httpPassword>\${WMS_PASSWORD:secret}</httpPassword>
  <formatModifiers>
    <formatModifier><responseFormat>image/jpeg</responseFormat><requestFormat>image/png</requestFormat><transparent>false</transparent><bgColor>0xFFFFFF</bgColor><compressionQuality>0.8</compressionQuality></formatModifier>
  </formatModifiers>
  <blobStores>
    <FileBlobStore default="true"><id>fast</id><enabled>true</enabled><baseDirectory>${directory}/fast</baseDirectory><fileSystemBlockSize>4096</fileSystemBlockSize></FileBlobStore>
    <FileBlobStore><id>slippy</id><enabled>true</enabled><baseDirectory>${directory}/slippy</baseDirectory><fileSystemBlockSize>4096</fileSystemBlockSize><pathGeneratorType>SLIPPY</pathGeneratorType></FileBlobStore>
    <S3BlobStore><id>s3</id><enabled>false</enabled><bucket>tiles</bucket><prefix>gwc</prefix><awsAccessKey>AK</awsAccessKey><awsSecretKey>SK</awsSecretKey><access>private</access><maxConnections>50</maxConnections><useHTTPS>true</useHTTPS><endpoint>http://127.0.0.1:9</endpoint><useGzip>true</useGzip></S3BlobStore>
    <AzureBlobStore><id>az</id><enabled>false</enabled><container>c</container><accountName>a</accountName><accountKey>k</accountKey><maxConnections>100</maxConnections><useHTTPS>true</useHTTPS></AzureBlobStore>
    <SwiftBlobStore><id>sw</id><enabled>false</enabled><container>c</container><prefix>p</prefix><endpoint>http://127.0.0.1:9/v3</endpoint><region>r</region><keystoneVersion>3</keystoneVersion><keystoneScope>project</keystoneScope><identity>t:u</identity><password>p</password></SwiftBlobStore>
    <MbtilesBlobStore><id>mb</id><enabled>false</enabled><rootDirectory>${directory}/mb</rootDirectory><templatePath>{layer}/{grid}{format}{params}/{z}-{x}-{y}.sqlite</templatePath><poolSize>100</poolSize><poolReaperIntervalMs>500</poolReaperIntervalMs><rowRangeCount>250</rowRangeCount><columnRangeCount>250</columnRangeCount><eagerDelete>false</eagerDelete><useCreateTime>true</useCreateTime><executorConcurrency>5</executorConcurrency></MbtilesBlobStore>
  </blobStores>
  <gridSets>
    <gridSet><name>EPSG:2056</name><description>Swiss grid</description><srs><number>2056</number></srs>
      <extent><coords><double>2420000</double><double>1030000</double><double>2900000</double><double>1350000</double></coords></extent>
      <alignTopLeft>true</alignTopLeft>
      <resolutions><double>4000</double><double>2000</double><double>1000</double><double>500</double><double>250</double><double>100</double></resolutions>
      <metersPerUnit>1</metersPerUnit><pixelSize>0.00028</pixelSize>
      <scaleNames><string>0</string><string>1</string><string>2</string><string>3</string><string>4</string><string>5</string></scaleNames>
      <tileHeight>256</tileHeight><tileWidth>256</tileWidth><yCoordinateFirst>false</yCoordinateFirst></gridSet>
    <gridSet><name>EPSG:25833</name><srs><number>25833</number></srs>
      <extent><coords><double>0</double><double>5000000</double><double>1000000</double><double>6000000</double></coords></extent>
      <scaleDenominators><double>5000000</double><double>1000000</double><double>100000</double></scaleDenominators><tileHeight>512</tileHeight><tileWidth>512</tileWidth></gridSet>
    <gridSet><name>levels</name><srs><number>3857</number></srs>
      <extent><coords><double>-20037508.34</double><double>-20037508.34</double><double>20037508.34</double><double>20037508.34</double></coords></extent><levels>10</levels></gridSet>
  </gridSets>
  <layers>
    <wmsLayer>
      <name>city:base</name>
      <metaInformation><title>Base map</title><description>All of it</description><keywords><string>base</string></keywords></metaInformation>
      <mimeFormats><string>image/png8</string><string>image/png</string><string>image/jpeg</string></mimeFormats>
      <gridSubsets>
        <gridSubset><gridSetName>EPSG:2056</gridSetName><extent><coords><double>2480000</double><double>1070000</double><double>2840000</double><double>1300000</double></coords></extent></gridSubset>
        <gridSubset><gridSetName>EPSG:900913</gridSetName><extent><coords><double>600000</double><double>5700000</double><double>1200000</double><double>6100000</double></coords></extent><zoomStart>5</zoomStart><zoomStop>18</zoomStop><minCachedLevel>6</minCachedLevel><maxCachedLevel>16</maxCachedLevel></gridSubset>
      </gridSubsets>
      <useETags>true</useETags>
      <metaWidthHeight><int>5</int><int>5</int></metaWidthHeight>
      <expireCacheList><expirationRule minZoom="0" expiration="-2"/><expirationRule minZoom="10" expiration="86400"/></expireCacheList>
      <expireClientsList><expirationRule minZoom="0" expiration="604800"/><expirationRule minZoom="12" expiration="3600"/></expireClientsList>
      <backendTimeout>90</backendTimeout><cacheBypassAllowed>true</cacheBypassAllowed><queryable>true</queryable><wmsQueryLayers>streets</wmsQueryLayers>
      <parameterFilters>
        <stringParameterFilter><key>STYLES</key><defaultValue>day</defaultValue><normalize><case>LOWER</case><locale>en</locale></normalize><values><string>day</string><string>night</string></values></stringParameterFilter>
        <regexParameterFilter><key>CQL_FILTER</key><defaultValue></defaultValue><regex>road_class='[A-E]'</regex></regexParameterFilter>
        <floatParameterFilter><key>ELEVATION</key><defaultValue>0.0</defaultValue><values><float>0</float><float>100</float></values><threshold>0.5</threshold></floatParameterFilter>
        <integerParameterFilter><key>YEAR</key><defaultValue>2020</defaultValue><values><int>2010</int><int>2020</int></values><threshold>5</threshold></integerParameterFilter>
      </parameterFilters>
      <wmsUrl><string>${upstream}</string><string>${upstream}</string></wmsUrl>
      <wmsLayers>land,water,streets,labels</wmsLayers><wmsStyles>,,,</wmsStyles><gutter>32</gutter>
      <errorMime>application/vnd.ogc.se_inimage</errorMime><wmsVersion>1.1.1</wmsVersion>
      <httpUsername>maps</httpUsername><httpPassword>secret</httpPassword>
      <tiled>false</tiled><transparent>true</transparent><palette>safe</palette>
      <vendorParameters>MAP=/srv/city.map&amp;DPI=96</vendorParameters><concurrency>8</concurrency>
      <legends defaultWidth="120" defaultHeight="80" defaultFormat="image/png">
        <legend style="day"/>
        <legend style="night"><width>60</width><height>40</height><format>image/gif</format><url>http://127.0.0.1:8080/legend</url><minScale>1000</minScale><maxScale>500000</maxScale></legend>
        <legend style="other"><completeUrl>http://127.0.0.1:8080/legend.png?x=1</completeUrl></legend>
      </legends>
    </wmsLayer>
    <wmsLayer>
      <blobStoreId>slippy</blobStoreId><enabled>true</enabled><advertised>false</advertised>
      <name>ortho photos</name>
      <mimeFormats><string>image/jpeg</string><string>image/vnd.jpeg-png</string></mimeFormats>
      <formatModifiers><formatModifier><responseFormat>image/jpeg</responseFormat><requestFormat>image/tiff</requestFormat><bgColor>0x000000</bgColor><compressionQuality>0.75</compressionQuality></formatModifier></formatModifiers>
      <gridSubsets><gridSubset><gridSetName>EPSG:25833</gridSetName></gridSubset><gridSubset><gridSetName>levels</gridSetName></gridSubset></gridSubsets>
      <requestFilters>
        <circularExtentFilter><name>round</name></circularExtentFilter>
        <wmsRasterFilter><name>mask</name><zoomStart>0</zoomStart><zoomStop>4</zoomStop><resample>true</resample><preload>false</preload><debug>false</debug><wmsLayers>mask</wmsLayers><wmsStyles></wmsStyles><backendTimeout>30</backendTimeout></wmsRasterFilter>
        <fileRasterFilter><name>filemask</name><zoomStart>0</zoomStart><zoomStop>3</zoomStop><resample>false</resample><preload>false</preload><debug>false</debug><storagePath>${directory}/masks</storagePath><fileExtension>tiff</fileExtension></fileRasterFilter>
      </requestFilters>
      <metaWidthHeight><int>1</int><int>1</int></metaWidthHeight>
      <expireCache>0</expireCache><expireClients>0</expireClients>
      <wmsUrl><string>${upstream}?</string></wmsUrl><wmsLayers>ortho</wmsLayers>
      <transparent>false</transparent><bgColor>0x000000</bgColor><httpRequestMode>FormPost</httpRequestMode>
    </wmsLayer>
    <wmsLayer><enabled>false</enabled><name>city:old</name><wmsUrl><string>${upstream}</string></wmsUrl></wmsLayer>
  </layers>
  <fullWMS>false</fullWMS>
</gwcConfiguration>
`;
