import { outcomeCounter, p99Of } from './outcome.js'
import { recoveredAfter } from './run.js'
import type { LiveScenario, Sender } from './scenario.js'

const sender = (changes: Partial<Sender> = {}): Sender => ({ client: 1, priority: 'default', ...changes })
const critical = sender({ priority: 'critical', group: 'critical' })

test('requests are counted by what became of them, in the second in which they were sent', () => {
  const counter = outcomeCounter(2)
  const ends = [
    [sender(), 100, 200],
    [critical, 900, 200],
    [critical, 1000, 503],
    [sender({ group: 'others', tenant: 'a' }), 1999, undefined],
    [sender({ group: 'others', tenant: 'a' }), 1999, 200],
    [sender({ group: 'others', tenant: 'b' }), 1999, 200],
    [sender({ group: 'heavy', tenant: 'c' }), 1999, 503],
    [sender(), 1999, 500],
  ] as const
  for (const [who, atMs] of ends) counter.sent(who, atMs, 1)
  for (const [who, atMs, status] of ends) counter.ended(who, atMs, status, 7)
  expect(counter.outcome()).toEqual({
    ...{ sent: 8, good: 4, denied: 2, lost: 2 },
    ...{ sentBySecond: [2, 6], goodBySecond: [2, 2] },
    groups: {
      critical: { sent: 2, good: 1 },
      others: { sent: 3, good: 2 },
      heavy: { sent: 1, good: 0 },
    },
    worstTenant: 0.5,
    lagMs: 1, // and no percentile of the critical ones, of which one got no answer
  })
})

test('the 99th percentile of critical requests is of all, and is absent if more than a hundredth got none', () => {
  const p99 = [1, 2].map((lost) => {
    const counter = outcomeCounter(1)
    for (let i = 0; i < 200; i++) counter.sent(critical, 0, 0)
    for (let i = 0; i < 200; i++) counter.ended(critical, 0, i < lost ? undefined : 200, i)
    return counter.outcome().criticalP99Ms
  })
  expect(p99).toEqual([199, undefined])
  expect(p99Of([])).toBeNaN()
})

test('a server has recovered when all later seconds are well, as to what was sent and what it can do', () => {
  const scenario = { work: 'backend', calmFrom: 0.5 } as LiveScenario // 800 requests a second
  const after = [
    [100, 0, 80, 100, 95], // in seconds from 2
    [100, 90, 90, 90, 90],
    [0, 0, 90, 90, 80],
    [0, 0, 90, 90, 90],
  ].map((goodBySecond) =>
    recoveredAfter(scenario, { sentBySecond: [100, 100, 100, 100, 100], goodBySecond }, 4),
  )
  const busy = { sentBySecond: [0, 0, 2000, 2000], goodBySecond: [0, 0, 700, 730] }
  expect([...after, recoveredAfter(scenario, busy, 4)]).toEqual([1, 0, undefined, 0, 1])
})
