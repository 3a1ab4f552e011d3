import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWorkers, type Workers } from './start.js'
import type { Cost, Expiry, Seen } from './worker.js'

let workers: Workers
beforeAll(async () => {
  workers = await startWorkers()
})
afterAll(() => workers?.running.close())

test('the store keeps the contract of stores, in workerd', async () => {
  const { cases, failures } = await workers.ask<{ cases: number; failures: string[] }>('/conformance', {
    extent: 'sample',
  })
  expect(failures).toEqual([])
  expect(cases).toBeGreaterThan(80)
}, 120_000)

test('four isolates admit exactly 1000 of 4,000', async () => {
  const loads = [0, 1, 2, 3].map((isolate) => workers.ask<Seen>('/load', { isolate, limit: 1000 }))
  const seen = await Promise.all(loads)
  const sum = (name: 'allowed' | 'denied') => seen.reduce((total, each) => total + each[name], 0)
  expect({ allowed: sum('allowed'), denied: sum('denied') }).toEqual({ allowed: 1000, denied: 3000 })
  expect(await workers.ask('/used', { limit: 1000 })).toBe(1000)
}, 120_000)

test('an alarm removes the states that have expired, and sets the next one', async () => {
  const { clients, clientsAfter, firstAlarmMs, nextAlarmMs } = await workers.ask<Expiry>('/expiry')
  expect({ clients, clientsAfter }).toEqual({ clients: 2501, clientsAfter: 1 })
  expect(firstAlarmMs).toBe(3_600_000)
  expect(nextAlarmMs).toBe(86_400_000) // when the last state expires
}, 60_000)

test('an object without the kind of a policy says so, and takes nothing', async () => {
  const error =
    'durable-objects: the object has no code for the policy "token-bucket". Add its kind to limitsObject(…)'
  expect(await workers.ask('/kinds')).toEqual({
    known: true,
    missing: { message: expect.stringContaining(error), replied: true },
  })
})

describe('the page', () => {
  const page = readFileSync(join(__dirname, '../../../docs/stores/durable-objects.md'), 'utf8')
  const rows = Array.from(
    page.matchAll(/^\| (an? .+) \| (\d+) \| (\d+) \| (\d+) \|$/gm),
    ([, name, ...figures]) => {
      const [requests, rowsWritten, rowsRead] = figures.map(Number)
      return [name ?? '', { requests, rowsWritten, rowsRead }] as const
    },
  )
  /** What the costs are measured on, for each row of the page. */
  const measured: Readonly<Record<string, readonly string[]>> = {
    'an allowed charge, of one limit or several of one client': ['a charge', 'a charge of three limits'],
    'a denied charge, or one of cost 0': ['a denied charge', 'a charge of cost 0'],
    'a refund': ['a refund'],
    'an allowed charge with `writeDelay`': ['the first charge with writeDelay'],
    'a further one of the same client before it is written': ['the next charge with writeDelay'],
  }

  test('says what decisions cost', async () => {
    const costs = await workers.ask<Record<string, Cost>>('/costs')
    expect(rows.map(([name]) => name)).toEqual(Object.keys(measured))
    for (const [name, { rowsRead = 0, ...figures }] of rows)
      for (const operation of measured[name] ?? []) {
        const further = operation.includes('three') ? 2 : 0
        expect({ operation, ...costs[operation] }).toMatchObject({
          operation,
          ...figures,
          rowsRead: rowsRead + further,
        })
      }
    const [, bytes] = /reply\s+take\s+about\s+(\d+)\s+bytes/.exec(page) ?? []
    expect(Math.abs((costs['a charge']?.bytes ?? 0) - Number(bytes))).toBeLessThan(15)
    expect(costs['the first charge of an object']?.rowsWritten).toBe(2) // one is the alarm
  })
})
