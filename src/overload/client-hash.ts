/** Returns a hash of a text, 32 bits: FNV-1a (Fowler, Noll and Vo). Every process has the same. */
export function clientHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
