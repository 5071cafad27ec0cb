/** Returns whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase();
  return plain === "localhost" || plain === "::1" || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
