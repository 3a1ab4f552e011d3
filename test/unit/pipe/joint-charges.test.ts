import { fixedWindow } from 'headgate'
import { StoreError } from 'headgate/store'
import { jointCharges } from '../../../src/pipe/joint-charges.js'
import type { ChargeResult, Operation, Outcome } from '../../../src/stores/operation.js'
import { part } from '../../../src/testing/conformance/store-calls.js'

const policy = fixedWindow({ limit: 3, window: '1h' })
const allowed: ChargeResult = {
  type: 'charge',
  allowed: true,
  atMs: 1,
  parts: [policy.take(undefined, 1, 1)],
}

/** Charges two shards, of which the second fails. `refunded` is the outcome of the refund to the first. */
function chargeBoth(failure: StoreError, refunded: Outcome): Promise<ChargeResult | StoreError> {
  const outcomeOf = (operation: Operation): Outcome => {
    if (operation.type === 'refund') return refunded
    return operation.type === 'charge' && operation.parts[0]?.key === 'a' ? allowed : failure
  }
  const decide = jointCharges(
    (key) => key,
    (operation, settle) => settle(outcomeOf(operation)),
    () => 1,
  )
  return new Promise((resolve) =>
    decide({ type: 'charge', parts: [part('a', policy), part('b', policy)] }, resolve),
  )
}

describe.each([{ replied: true }, { unsent: true }])('a charge whose second shard fails with %o', (facts) => {
  const failure = new StoreError('memcached', 'other processes changed the key b during every attempt', facts)

  test('has changed nothing if the first shard refunded its units', async () => {
    expect(await chargeBoth(failure, { type: 'refund' })).toBe(failure)
  })

  test('has changed something if the first shard did not', async () => {
    const lost = new StoreError('memcached', 'connection lost')
    expect(await chargeBoth(failure, lost)).toMatchObject({
      store: 'memcached',
      message: 'memcached: other processes changed the key b during every attempt',
      replied: false,
      unsent: false,
    })
  })
})
