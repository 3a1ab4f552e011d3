import { type DistinctSample, sampleAsJson, sampleInJson } from '../../util/distinct-sample.js'

/** Returns a sample as a short text: its numbers of 32 bits, least significant byte first, as base64. */
export function sampleText(sample: DistinctSample): string {
  const numbers = sampleAsJson(sample)
  const bytes = Buffer.allocUnsafe(4 * numbers.length)
  numbers.forEach((number, i) => void bytes.writeUInt32LE(number, 4 * i))
  return bytes.toString('base64')
}

/** Returns the sample of a text; `undefined` for any other value, and for more than `capacity` names. */
export function sampleIn(text: unknown, capacity: number): DistinctSample | undefined {
  if (typeof text !== 'string' || text.length > 8 * (capacity + 1)) return undefined
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return undefined
  const numbers = new Array<number>(bytes.length / 4)
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.readUInt32LE(4 * i)
  return sampleInJson(numbers, capacity)
}
