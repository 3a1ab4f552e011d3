import { sha256 } from '../../platform.js'

/** Returns a short printable key in place of one that a server rejects. UTF-16 keeps lone surrogates. */
export function hashKey(key: string): string {
  const units = Uint16Array.from({ length: key.length }, (_, i) => key.charCodeAt(i))
  return `hg:${sha256(new Uint8Array(units.buffer))}`
}
