import fc from 'fast-check'
import { storageKeys } from '../../../src/keys/storage-key.js'

const HEAD = 'hg:1:login:token-bucket-5-12000'

test('a storage key is its head, and the identity as a Redis Cluster hash tag', () => {
  expect(storageKeys(HEAD)('192.0.2.1')).toBe('hg:1:login:token-bucket-5-12000:{192.0.2.1}')
})

test('a client keeps its key, also after thousands of others', () => {
  const keyAtRest = storageKeys(HEAD)
  const first = keyAtRest('192.0.2.1')
  expect(keyAtRest('192.0.2.1')).toBe(first)
  for (let i = 0; i < 5000; i++) expect(keyAtRest(`other-${i}`)).toBe(`${HEAD}:{other-${i}}`)
  expect(keyAtRest('192.0.2.1')).toBe(first)
})

test('clients that take turns, more of them than are remembered, never get each other’s key', () => {
  const keyAtRest = storageKeys(HEAD)
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10_000; i += round + 1) expect(keyAtRest(`client-${i}`)).toBe(`${HEAD}:{client-${i}}`)
  }
})

test('identities never mix, in whatever order they come', () => {
  const identity = fc.oneof(
    fc.string(),
    fc.constantFrom('', 'a', 'b', 'a|b', '}', '{a}', '__proto__', 'constructor', 'toString', '\ud800'),
  )
  fc.assert(
    fc.property(fc.array(identity, { maxLength: 200 }), (identities) => {
      const keyAtRest = storageKeys(HEAD)
      const keys = identities.map(keyAtRest)
      expect(keys).toEqual(identities.map((each) => `${HEAD}:{${each}}`))
      expect(new Set(keys).size).toBe(new Set(identities).size)
    }),
  )
})

test('two heads share nothing', () => {
  const [login, search] = [storageKeys('hg:1:login'), storageKeys('hg:1:search')]
  expect([login('a'), search('a'), login('a')]).toEqual([
    'hg:1:login:{a}',
    'hg:1:search:{a}',
    'hg:1:login:{a}',
  ])
})
