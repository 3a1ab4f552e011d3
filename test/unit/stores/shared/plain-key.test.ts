import { plainKey } from '../../../../src/stores/shared/hash-key.js'

test.each(['a', 'hg:api:{192.0.2.7}', ' ~', 'a'.repeat(300)])('%j stays as it is', (key) => {
  expect(plainKey(key)).toBe(key)
})

test('a key that is long, empty or not plain ASCII becomes a hash, each another one', () => {
  const keys = [
    '',
    'a'.repeat(301),
    'a'.repeat(302),
    'ä',
    'a\u0308',
    '\ud800',
    '\udc00',
    'a\n',
    'a\0',
    'a\u007f',
  ]
  const hashes = keys.map(plainKey)
  for (const hash of hashes) expect(hash).toMatch(/^hg:[\w+/=-]{20,64}$/)
  expect(new Set(hashes).size).toBe(keys.length)
})
