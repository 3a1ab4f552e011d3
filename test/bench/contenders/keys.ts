/** Client `i`'s key: an address, made anew each time, as each request brings its own string. */
export function keyText(i: number): string {
  const text = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
  return Buffer.from(text, 'latin1').toString('latin1') // one flat string, not a rope of pieces
}

/** The numbers below `count` in an order without pattern, the same each time. */
export function shuffledIndexes(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  let seed = 0x9e3779b9
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    const j = Math.floor((seed / 2 ** 32) * (i + 1))
    const swapped = order[i] as number
    order[i] = order[j] as number
    order[j] = swapped
  }
  return order
}
