import assert from 'node:assert/strict'
import { Redis } from 'ioredis'
import { startRedis } from '../support/servers/redis.js'
import { type AdjustCounts, type AdjustQuestion, busyLimiter, UNITS_EACH } from './busy-limiter.js'
import { startChild } from './harness/child.js'
import { printTable, whole } from './harness/table.js'

const CLIENTS = 4
const HEAP_MB = 200
const EVERY_MS = 4 // 250 requests a second from each client
const REQUESTS = 2500

/** Four clients send 1,000 requests a second to one key in Redis, and adjusts each. */
export async function benchAdjust(): Promise<void> {
  const server = await startRedis({ own: true })
  const module = new URL('./adjust-child.ts', import.meta.url)
  const children = Array.from({ length: CLIENTS }, () => startChild(module, [server.url], HEAP_MB))
  const client = new Redis(server.url)
  try {
    const ask = (question: AdjustQuestion) =>
      Promise.all(children.map((child) => child.ask<AdjustCounts>(question)))
    await ask({ requests: 50, everyMs: EVERY_MS }) // all are there, and warm
    const observer = busyLimiter(client)
    const { remaining: before } = await observer.peek('ada')
    const counts = await ask({ requests: REQUESTS, everyMs: EVERY_MS })
    const { remaining: after } = await observer.peek('ada')
    const failed = counts.reduce((sum, each) => sum + each.failed, 0)
    const took = counts.flatMap(({ tookMs }) => tookMs).sort((a, b) => a - b)
    if (failed === 0) assert.equal(before - after, CLIENTS * REQUESTS * UNITS_EACH)
    const at = (share: number) => `${(took[Math.floor(share * took.length)] ?? 0).toFixed(2)} ms`
    printTable(
      `${CLIENTS} clients, ${whole((CLIENTS * 1000) / EVERY_MS)} requests a second to one key in Redis, three changes each`,
      ['changes', 'failed', 'median', '99 %'],
      [[whole(failed + took.length), whole(failed), at(0.5), at(0.99)]],
    )
  } finally {
    client.disconnect()
    for (const child of children) child.end()
    await server.stop()
  }
}
