import { fixedWindow } from '../../../src/index.js'
import { lockingPicker } from '../../../src/pipe/locking-picker.js'

const policy = fixedWindow({ limit: 10, window: '1m' })
const itemOf = (key: string) => ({ operation: { type: 'forget', key, policy } }) as const

test('a key stays locked while thousands of others come and go', () => {
  const { pick, release } = lockingPicker(256)
  const [held] = pick([itemOf('held')], 16)
  for (let i = 0; i < 5000; i++) release(pick([itemOf(`other:${i}`)], 16)[0])
  const waiting = [itemOf('held'), itemOf('other')]
  expect(pick(waiting, 16)).toEqual([[waiting[1]], [waiting[0]]])
  release(held)
  expect(pick(waiting.slice(0, 1), 16)).toEqual([[waiting[0]], []])
})
