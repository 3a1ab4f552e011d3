const [ZERO, NINE, DOT] = [48, 57, 46]

/** Returns an IPv4 address as a number, if a text is one as `addressIdentity` spells it; -1 for any other. */
export function ipv4Number(text: string): number {
  const { length } = text
  if (length < 7 || length > 15) return -1
  let address = 0
  let part = -1 // no digit yet
  let dots = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code >= ZERO && code <= NINE && part !== 0) {
      part = (part < 0 ? 0 : 10 * part) + code - ZERO
      if (part > 255) return -1
    } else if (code === DOT && part >= 0) {
      address = 256 * address + part
      part = -1
      dots++
    } else return -1
  }
  return dots === 3 && part >= 0 ? 256 * address + part : -1
}

/** Returns the IPv4 address that is a number. */
export function ipv4Text(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.')
}
