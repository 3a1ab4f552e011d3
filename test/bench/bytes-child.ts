import assert from 'node:assert/strict'
import { keyText } from './contenders/keys.js'
import { STORES, type StoreName } from './contenders/stores.js'
import { answerQuestions } from './harness/child.js'
import { collectGarbage } from './harness/usage.js'

/** Bytes that a store took per key, without the keys' own strings, which exist before. */
export interface BytesPerKey {
  readonly heap: number
  readonly resident: number
}

const [name = '', keyCount = ''] = process.argv.slice(2)
const count = Number(keyCount)
const keys = Array.from({ length: count }, (_, i) => keyText(i))
const store = STORES[name as StoreName](count)

function memory() {
  for (let i = 0; i < 3; i++) collectGarbage()
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
  return { held: heapUsed + arrayBuffers, rss }
}

answerQuestions(async (): Promise<BytesPerKey> => {
  await store.charge(['warm-up'], 0, 1)
  const before = memory()
  const allowed = await store.charge(keys, 0, count - 1)
  const after = memory()
  assert.equal(allowed, count - 1, `${name}: fresh keys were denied`)
  assert.equal(await store.used(keys[count >> 1] as string), 1, `${name}: a key was lost`)
  return { heap: (after.held - before.held) / count, resident: (after.rss - before.rss) / count }
})
