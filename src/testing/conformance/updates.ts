import type { Policy, State } from '../../policies/policy.js'
import type { StateChange, Store } from '../../stores/store.js'
import { expectEqual, expectMatch } from '../assertions.js'
import { LONG_KINDS } from './sample-policies.js'
import { allowedCount, chargeOne, expectTaken, part, remainingOf, takeOne } from './store-calls.js'
import { type Bodies, casesOfEach } from './store-case.js'

type UpdatingStore = Required<Pick<Store, 'update'>> & Store

const hasUpdate = (store: Store): store is UpdatingStore => store.update !== undefined

/** Returns a body that does nothing for a store without `update`, which a store need not have. */
function withUpdate(body: (store: UpdatingStore) => Promise<void>): Bodies[string] {
  return async ({ store }) => {
    if (hasUpdate(store)) await body(store)
  }
}

/** Returns a change that takes units if they are left. `onTaken` gets what each call has taken. */
function taking(policy: Policy, cost: number, onTaken: (units: number) => void = () => {}): StateChange {
  return (state, nowMs) => {
    const { allowed, next } = policy.take(state, nowMs, cost)
    onTaken(allowed ? cost : 0)
    return next ?? state
  }
}

const updates = casesOfEach(LONG_KINDS, 'an update of a %s', (policyOf) => ({
  'replaces the state by what the function returns': withUpdate(async (store) => {
    const policy = policyOf(5)
    await takeOne(store, 'key', policy, 2)
    await store.update({ key: 'key', policy }, taking(policy, 2))
    expectEqual('remaining after 2 and 2 were taken', await remainingOf(store, policy, ['key']), [1])
    await expectTaken(store, policy, ['key'], 4)
  }),

  'passes no state for a key without one, and creates the key': withUpdate(async (store) => {
    const policy = policyOf(5)
    const states: (State | undefined)[] = []
    const take = taking(policy, 3)
    await store.update({ key: 'new', policy }, (state, nowMs) => {
      states.push(state)
      return take(state, nowMs)
    })
    expectEqual('the state of a key without one', states.at(-1), undefined)
    expectEqual('remaining', await remainingOf(store, policy, ['new', 'other']), [2, 5])
  }),

  'removes the key where the function returns no state': withUpdate(async (store) => {
    const policy = policyOf(5)
    await takeOne(store, 'key', policy, 5)
    await store.update({ key: 'key', policy }, () => undefined)
    await store.update({ key: 'unknown', policy }, () => undefined)
    expectEqual('remaining', await remainingOf(store, policy, ['key', 'unknown']), [5, 5])
    expectMatch('a charge above the limit', await takeOne(store, 'key', policy, 6), { allowed: false })
  }),

  'changes nothing where the function returns the state, or throws': withUpdate(async (store) => {
    const policy = policyOf(5)
    await takeOne(store, 'key', policy, 3)
    await store.update({ key: 'key', policy }, (state) => state)
    const failure = new Error('thrown by the function')
    const thrown = await Promise.resolve()
      .then(() =>
        store.update({ key: 'key', policy }, () => {
          throw failure
        }),
      )
      .catch((error: unknown) => error)
    const isFound = thrown === failure || (thrown as Error | undefined)?.cause === failure
    expectEqual('update() rejects with what the function threw, or with that as its cause', isFound, true)
    expectEqual('remaining', await remainingOf(store, policy, ['key']), [2])
  }),

  'is forgotten': withUpdate(async (store) => {
    const policy = policyOf(5)
    await store.update({ key: 'key', policy }, taking(policy, 5))
    await store.forget([{ key: 'key', policy }])
    expectEqual('remaining', await remainingOf(store, policy, ['key']), [5])
  }),

  'loses no concurrent charge and no concurrent update': withUpdate(async (store) => {
    const policy = policyOf(30)
    const taken: number[] = []
    const updates = Array.from({ length: 12 }, async (_, i) => {
      await store.update(
        { key: 'key', policy },
        taking(policy, 2, (units) => {
          taken[i] = units
        }),
      )
    })
    const charges = Array.from({ length: 20 }, () => chargeOne(store, part('key', policy)))
    const verdicts = await Promise.all(charges)
    await Promise.all(updates)
    const sum = allowedCount(verdicts) + taken.reduce((all, units) => all + units, 0)
    expectEqual('at most the limit is taken', Math.min(sum, 30), sum)
    await expectTaken(store, policy, ['key'], sum)
  }),
}))

/** Changes of a state by a function, in a store that has `update`. */
export const updateCases = updates
