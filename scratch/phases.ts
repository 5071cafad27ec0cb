import { MapPictures } from "../bench/map-pictures.ts";
import { pngParts, decodePlainPng } from "../src/image/png-decode.ts";
import { decodePicture } from "../src/image/decode.ts";
import { encodeTiles } from "../src/image/encode.ts";
import { inflateSync, crc32 } from "node:zlib";
const maps = new MapPictures();
const med=(a:number[])=>a.sort((x,y)=>x-y)[a.length>>1]!;
for (const n of [1,4]) {
const pics = await Promise.all([...Array(8).keys()].map(i=>maps.of(256*n,256*n,String(i))));
const t: Record<string, number[]> = {};
const time=(k:string,f:()=>unknown)=>{const a=performance.now();const r=f();(t[k]??=[]).push(performance.now()-a);return r};
for (let i=0;i<40;i++){ const p=pics[i%8]!;
 time("crc",()=>crc32(p));
 const parts=time("parts",()=>pngParts(p)) as any;
 time("inflate",()=>inflateSync(parts.data[0],{chunkSize:(256*n*3+1)*256*n+1024}));
 const r=time("decode",()=>decodePlainPng(parts)) as any;
 const a=performance.now(); await encodeTiles(r,[{left:0,top:0,width:256,height:256}],{encoding:"png",kind:"image",mimeType:"image/png"} as any); (t["enc1"]??=[]).push(performance.now()-a);
}
console.log(n, pics.map(p=>p.length).join(), Object.entries(t).map(([k,v])=>k+" "+med(v).toFixed(2)).join("  "));
}
