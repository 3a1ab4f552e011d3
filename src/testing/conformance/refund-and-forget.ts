import type { Refund } from '../../stores/operation.js'
import { asModel, type CaseStep, operationsOf, receiptAt, refund } from './as-model.js'
import { LONG_KINDS } from './sample-policies.js'
import { type Bodies, casesOfEach } from './store-case.js'

const LONG_AGO_MS = 3 * 1000 * 24 * 3600 * 1000 // three of the long windows

/**
 * A refund may leave out when its key would be fresh again. For units taken from a fresh key that makes no
 * difference.
 */
const FORMS: readonly (readonly [string, (cost: number) => CaseStep])[] = [
  ['with resetAtMs', (cost) => refund({ cost })],
  [
    'without resetAtMs',
    (cost) => (receipts) => {
      const { resetAtMs: _, ...rest } = receiptAt(receipts, 0)
      return { ...rest, cost }
    },
  ],
]

const inEachForm = () =>
  FORMS.flatMap(([form, refundOf]) =>
    casesOfEach(LONG_KINDS, `a refund to a %s ${form}`, (policyOf) => {
      const { charge } = operationsOf(policyOf(5))
      const freshAfter = (cost: number) =>
        asModel(charge(4), refundOf(cost), charge(0), charge(6), charge(5), charge())
      return {
        'returns the units that were taken': asModel(charge(4), refundOf(3), charge(0), charge(4), charge()),
        'of 4 units after 4 were taken leaves a fresh state, and no more': freshAfter(4),
        'of 5 units after 4 were taken leaves a fresh state, and no more': freshAfter(5),
        'of 1000 units after 4 were taken leaves a fresh state, and no more': freshAfter(1000),
      }
    }),
  )

const refunds = () =>
  casesOfEach(LONG_KINDS, 'a refund to a %s', (policyOf, name) => {
    const { charge } = operationsOf(policyOf(5))
    const refundOne = refund({ cost: 1 })
    const late: Bodies = {
      'changes nothing if the units were taken windows ago': asModel(
        charge(4),
        refund(({ takenAtMs, resetAtMs = 0 }) => {
          return { cost: 3, takenAtMs: takenAtMs - LONG_AGO_MS, resetAtMs: resetAtMs - LONG_AGO_MS }
        }),
        charge(0),
      ),
    }
    const restored: Bodies = {
      'changes nothing if the units were restored by resetAtMs': asModel(
        charge(4),
        refund(({ takenAtMs }) => ({ cost: 3, resetAtMs: takenAtMs })),
        charge(0),
      ),
    }
    return {
      'frees a client at its limit': asModel(charge(5), charge(), refundOne, charge(), charge()),
      'does not fail for an unknown key, and creates no credit': asModel(
        charge(1),
        refund({ key: 'unknown', cost: 3 }),
        refund(),
        ...[charge(0), charge(6), charge(0, 'unknown'), charge(6, 'unknown')],
      ),
      'may name one key several times': asModel(
        charge(5),
        (receipts) => Array<Refund>(3).fill({ ...receiptAt(receipts, 0), cost: 1 }),
        charge(0),
      ),
      'changes nothing if it names no key or cost 0': asModel(charge(4), [], refund({ cost: 0 }), charge(0)),
      ...(name !== 'consecutive' && late),
      ...(name === 'tokenBucket' && restored),
    }
  })

const forgets = () =>
  casesOfEach(LONG_KINDS, 'a forget, with a %s,', (policyOf) => {
    const { charge, forget } = operationsOf(policyOf(5))
    const peeks = ['a', 'b', 'c'].map((key) => charge(0, key))
    return {
      'makes a key fresh, and leaves the others alone': asModel(
        [charge(5, 'a'), charge(5, 'b'), charge(5, 'c')],
        [forget('a'), forget('c')],
        ...peeks,
      ),
      'does not fail for an unknown key, or a key named twice': asModel(
        charge(5),
        [forget('unknown'), forget('other'), forget('other')],
        charge(0),
      ),
      'leaves nothing for a later refund to restore': asModel(charge(5), forget(), refund(), charge(6)),
    }
  })

export const refundAndForgetCases = () => [...inEachForm(), ...refunds(), ...forgets()]
