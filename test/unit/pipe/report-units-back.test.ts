import { consecutive } from 'headgate'
import { StoreError } from 'headgate/store'
import type { Pipe } from '../../../src/pipe/pipe.js'
import { reportUnitsBack } from '../../../src/pipe/report-units-back.js'

const policy = consecutive({ limit: 1 })
const refund = { type: 'refund', key: 'ada', policy, cost: 1, takenAtMs: 0 } as const
const done = { type: 'refund' } as const
const failed = new StoreError('fake', 'no reply')

/** Sends an operation through a pipe that ends as `end` says. Returns the keys that are reported. */
function reportedBy(
  end: (...args: Parameters<Pipe['send']>) => unknown,
  operation: object = refund,
): string[] {
  const keys: string[] = []
  const pipe = reportUnitsBack({ send: end as Pipe['send'] }, (returned) =>
    keys.push(...returned.map(({ key }) => key)),
  )
  pipe.send(
    operation as typeof refund,
    () => {},
    () => {},
  )
  return keys
}

test.each<[string, Parameters<typeof reportedBy>[0]]>([
  ['at once', () => done],
  ['later', (_operation, settle) => void settle(done as never)],
  ['after the time-out', (operation, _settle, onLate) => void onLate?.(done as never, operation)],
])('keys whose units came back %s are reported', (_when, end) => {
  expect(reportedBy(end)).toEqual(['ada'])
})

test.each<[string, Parameters<typeof reportedBy>[0]]>([
  ['at once', () => failed],
  ['later', (_operation, settle) => void settle(failed)],
  ['after the time-out', (operation, _settle, onLate) => void onLate?.(failed, operation)],
])('a refund that failed %s is not reported', (_when, end) => {
  expect(reportedBy(end)).toEqual([])
})

test('a charge is not reported', () => {
  const charge = { type: 'charge', parts: [{ key: 'ada', policy, cost: 1 }] }
  expect(reportedBy(() => ({ type: 'charge', allowed: true, atMs: 0, parts: [] }), charge)).toEqual([])
})
