import { fixedWindow } from '../../policies/fixed-window.js'
import { asModel, operationsOf } from './as-model.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import { casesOf, casesOfEach } from './store-case.js'

const ofEachPolicy = () =>
  casesOfEach(LONG_KINDS, 'one charge of a %s', (policyOf) => {
    const { charge } = operationsOf(policyOf(5))
    const charges = (...costs: readonly number[]) => asModel(...costs.map((cost) => charge(cost)))
    return {
      'is allowed up to the limit, and denied from there on': charges(1, 1, 1, 1, 1, 1, 1, 1),
      'writes nothing when it is denied': charges(3, 3, 0, 2, 1),
      'takes nothing at cost 0, even when nothing is left': charges(0, 0, 0, 5, 0, 0, 0),
      'is denied forever at a cost above the limit, and takes nothing': charges(
        ...[6, Number.MAX_SAFE_INTEGER, 5],
      ),
      'leaves other keys alone': asModel(
        ...[charge(5, 'one'), charge(1, 'two'), charge(0, 'one'), charge(0, 'two'), charge(0, 'three')],
      ),
    }
  })

/**
 * Of a counter of 32 bits, the largest number in a structured header (RFC 9651 §3.3.1), the largest limit.
 */
const LARGE_LIMITS = [2 ** 31 - 1, 10 ** 15 - 1, Number.MAX_SAFE_INTEGER]

const ofLargeLimits = casesOf('', {
  'a fixedWindow from the first request counts exactly up to the largest limits': asModel(
    ...LARGE_LIMITS.flatMap((limit) => {
      const { charge } = operationsOf(fixedWindow({ limit, window: LONG, startsAt: 'first-request' }))
      return [limit - 1, 1, 1, limit].map((cost) => charge(cost, `of-${limit}`))
    }),
  ),
})

/** Charges of one part: the limit, the figures, and what is never written. */
export const chargeCases = () => [...ofEachPolicy(), ...ofLargeLimits]
