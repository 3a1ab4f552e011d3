import slotOf from 'cluster-key-slot'
import fc from 'fast-check'
import { keySlot } from '../../../../src/stores/redis/key-slot.js'

test.each([
  ['123456789', 0x31c3], // of the cluster specification
  ['', 0],
  ['{user1000}.following', keySlot('user1000')],
  ['foo{{bar}}zap', keySlot('{bar')],
  ['foo{bar}{zap}', keySlot('bar')],
])('the slot of %j is %i', (key, slot) => {
  expect(keySlot(key)).toBe(slot)
})

test('an empty or unfinished hash tag is no hash tag', () => {
  const slots = ['foo{}{bar}', '{}}', 'foo{bar'].map(keySlot)
  expect(slots).toEqual([8363, 14_790, 15_278]) // as CLUSTER KEYSLOT of Redis 7.0 returns them
})

test('it equals that of the package cluster-key-slot, which ioredis and node-redis use', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('{', '}', 'a', 'ü', '𝄞') }),
  )
  const key = text.filter((each) => !each.includes('{}')) // which cluster-key-slot 1.1.2 reads wrongly
  fc.assert(fc.property(key, (each) => expect(keySlot(each)).toBe(slotOf(each))))
})
