import { tokenBucket } from '../../policies/token-bucket.js'
import type { Charge, Part } from '../../stores/operation.js'
import { asModel, operationsOf } from './as-model.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import { part } from './store-calls.js'
import { casesOf, casesOfEach } from './store-case.js'

const chargeOf = (...parts: readonly Part[]): Charge => ({ type: 'charge', parts })

const ofEachPolicy = () =>
  casesOfEach(LONG_KINDS, 'a charge of several parts of a %s', (policyOf) => {
    const policy = policyOf(5)
    const { charge } = operationsOf(policy)
    const keys = ['a', 'b', 'c']
    const peeks = keys.map((key) => charge(0, key))
    return {
      'takes every part when all allow': asModel(
        ...[
          chargeOf(part('ip', policy, 1), part('account', policy, 2)),
          charge(0, 'ip'),
          charge(0, 'account'),
        ],
      ),
      'takes none when the first one denies, and shows the others unchanged': asModel(
        ...[charge(5, 'a'), charge(1, ...keys), ...peeks],
      ),
      'takes none when the middle one denies, and shows the others unchanged': asModel(
        ...[charge(5, 'b'), charge(1, ...keys), ...peeks],
      ),
      'takes none when the last one denies, and shows the others unchanged': asModel(
        ...[charge(5, 'c'), charge(1, ...keys), ...peeks],
      ),
      'shows for each part whether it would deny alone': asModel(
        chargeOf(part('a', policy, 5), part('b', policy, 4)),
        chargeOf(part('a', policy, 1), part('b', policy, 1), part('c', policy, 6)),
      ),
      'counts a key once for each time that it is named': asModel(charge(2, 'a', 'a'), charge(0, 'a')),
      'takes nothing from a key that is named twice and has enough for one only, and shows it unchanged':
        asModel(charge(3, 'a', 'a'), charge(0, 'a')),
      'may peek at one key and take from another': asModel(
        charge(5, 'a'),
        chargeOf(part('a', policy, 0), part('b', policy, 2)),
        ...peeks,
      ),
    }
  })

const ofSeveralPolicies = casesOf('', {
  'several policies for one client are charged together: when one denies, none is taken': (made) => {
    const all = LONG_KINDS.map(([name, policyOf], i) => part(`client:${name}`, policyOf(i + 2)))
    const peeks = all.map((each) => chargeOf({ ...each, cost: 0 }))
    return asModel(chargeOf(...all), chargeOf(...all), chargeOf(...all), ...peeks)(made)
  },

  'a charge of 16 parts is one charge': (made) => {
    const { charge } = operationsOf(tokenBucket({ capacity: 2, refill: 2, every: LONG }))
    const keys = Array.from({ length: 16 }, (_, i) => `part-${i}`)
    const peeks = keys.map((key) => charge(0, key))
    return asModel(charge(1, ...keys), charge(1, 'part-15'), charge(1, ...keys), ...peeks)(made)
  },
})

/** Charges of several parts: all or nothing. */
export const manyPartsCases = () => [...ofEachPolicy(), ...ofSeveralPolicies]
