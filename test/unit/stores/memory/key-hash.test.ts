import fc from 'fast-check'
import { KeyHash } from '../../../../src/stores/memory/key-hash.js'
import { halfSipHash } from './half-sip-hash.js'

const SECRET = Int32Array.of(0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c)

function hashOf(key: string, hash = new KeyHash(SECRET)): readonly [low: number, high: number] {
  hash.hash(key)
  return [hash.low, hash.high]
}

/** Bytes from 0 on. */
const upTo = (length: number) => Uint8Array.from({ length }, (_, i) => i)
const hex = (words: readonly bigint[]) => words.map((word) => word.toString(16).padStart(8, '0'))

describe('the reference implementation in these tests', () => {
  // In the same order: messages of 0 bytes, of 1 byte (0), of 2 bytes (0, 1), and so on; the key is the
  // bytes 0 to 7.
  test.each<[string, number, number, 1 | 2, string[][]]>([
    [
      'HalfSipHash-2-4, 32 bits, by its authors',
      2,
      4,
      1,
      [['5b9f35a9'], ['b85a4727'], ['03a662fa'], ['04e7fe8a'], ['89466e2a'], ['69b6fac5']],
    ],
    [
      'HalfSipHash-2-4, 64 bits, by its authors',
      2,
      4,
      2,
      [
        ['591f8d21', 'c83cb8b9'],
        ['122455be', '157338f8'],
        ['ef394f06', '57eb507c'],
        ['451a0fce', '790606f7'],
        ['178ae7d5', 'a12ee55b'],
      ],
    ],
    [
      'HalfSipHash-1-3, 32 bits, in Linux',
      1,
      3,
      1,
      [['5814c896'], ['e7e864ca'], ['bc4b0e30'], ['01539939'], ['7e059ea6'], ['88e3d89b']],
    ],
  ])('gives the published values of %s', (_name, c, d, words, expected) => {
    expect(expected.map((_, length) => hex(halfSipHash(c, d, upTo(8), upTo(length), words)))).toEqual(
      expected,
    )
  })
})

/** What the reference gives for bytes, in the words of `KeyHash`. */
function expectedOf(bytes: Uint8Array, secretAt: number): number[] {
  const key = new Uint8Array(SECRET.buffer).subarray(secretAt, secretAt + 8)
  return halfSipHash(1, 3, key, bytes, 2).map((word) => Number(BigInt.asIntN(32, word)))
}

test('a key of characters below 256 is hashed as bytes by HalfSipHash-1-3', () => {
  const bytes = fc.uint8Array({ maxLength: 300 })
  fc.assert(
    fc.property(bytes, (message) => {
      expect(hashOf(Buffer.from(message).toString('latin1'))).toEqual(expectedOf(message, 0))
    }),
    { numRuns: 200 },
  )
})

test('a key with other characters is hashed as UTF-16, under the second secret', () => {
  const wide = fc.tuple(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('\u0100', 'ж', '\ud800', '\uffff', '🚦'),
  )
  fc.assert(
    fc.property(wide, fc.string({ unit: 'binary', maxLength: 20 }), ([before, char], after) => {
      const key = before + char + after
      expect(hashOf(key)).toEqual(expectedOf(Buffer.from(key, 'utf16le'), 8))
    }),
    { numRuns: 200 },
  )
})

test('a key of the bytes of another key in UTF-16 has another hash', () => {
  expect(hashOf('\u0161')).not.toEqual(hashOf('a\x01'))
  expect(hashOf(Buffer.from('ключ', 'utf16le').toString('latin1'))).not.toEqual(hashOf('ключ'))
})

test('concatenated and sliced strings have the hash of flat ones', () => {
  const flat = 'hg:3:api:{10.0.0.1}, and long enough to be a slice'
  const rope = ['hg:3:', 'api:{10.0.0.1}', ', and long enough to be a slice'].reduce((a, b) => a + b)
  expect([hashOf(rope), hashOf(`>>${flat}<<`.slice(2, -2))]).toEqual([hashOf(flat), hashOf(flat)])
})

test('a key hashed in pieces has the hash of the whole key', () => {
  const bytes = fc.uint8Array({ maxLength: 30 }).map((some) => Buffer.from(some).toString('latin1'))
  const text = fc.oneof(bytes, fc.string({ unit: 'binary', maxLength: 30 }))
  const hash = new KeyHash(SECRET)
  fc.assert(
    fc.property(text, text, text, (beginning, middle, end) => {
      hash.hash(middle, hash.startAfter(beginning), end)
      const pieces = [hash.low, hash.high]
      expect(pieces).toEqual(hashOf(beginning + middle + end))
    }),
    { numRuns: 500 },
  )
})

test('a key is plain if all of its characters are from U+0001 to U+00FF', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '\x01', '\xff', '\0', '\u0100', '\ud800'),
    maxLength: 9,
  })
  const hash = new KeyHash(SECRET)
  fc.assert(
    fc.property(text, text, (middle, end) => {
      hash.hash(middle, hash.startAfter('hg:api:{'), end)
      expect(hash.isPlain).toBe([...middle, ...end].every((char) => char > '\0' && char <= '\xff'))
    }),
    { numRuns: 500 },
  )
})

test('each KeyHash has a random secret of its own by default', () => {
  const key = '10.0.0.1'
  const hashes = Array.from({ length: 1000 }, () => hashOf(key, new KeyHash()).join())
  expect(new Set(hashes).size).toBe(1000)
})

test('the hashes of neighbouring addresses are evenly distributed', () => {
  const hash = new KeyHash(SECRET)
  const bins = 256
  const counts = [0, 8, 16, 24].flatMap((shift) => [
    { half: 'low', shift, found: new Float64Array(bins) } as const,
    { half: 'high', shift, found: new Float64Array(bins) } as const,
  ])
  for (let i = 0; i < 100 * bins; i++) {
    hash.hash(`10.0.${i >> 8}.${i & 255}`)
    for (const { half, shift, found } of counts) {
      const bin = (hash[half] >>> shift) & (bins - 1)
      found[bin] = (found[bin] as number) + 1
    }
  }
  for (const { found } of counts) {
    const chiSquare = found.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0)
    expect(chiSquare).toBeGreaterThan(150) // 255 degrees of freedom: p < 1e-6 outside
    expect(chiSquare).toBeLessThan(380)
  }
})
