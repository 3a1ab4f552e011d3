let basis: number | undefined

/**
 * Returns a hash of a text, 32 bits: FNV-1a (Fowler, Noll and Vo), from a basis that is random in each
 * process. So no client can choose an identity that shares the verdicts on another one.
 */
export function clientHash(text: string): number {
  basis ??= Math.floor(Math.random() * 2 ** 32)
  let hash = basis
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
