import { consecutive } from '../../policies/consecutive.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { advanceTo, asModel, type CaseStep, operationsOf, refund } from './as-model.js'
import { SHORT_KINDS } from './sample-policies.js'
import { type Bodies, casesOf, casesOfEach, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

const TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000

const ofEachPolicy = ({ settableClock }: Capabilities) =>
  casesOfEach(SHORT_KINDS, 'in time, a %s', (policyOf) => {
    const { charge } = operationsOf(policyOf(3))
    const toTheMillisecond: Bodies = {
      'denies the same cost 1 ms before retryAfterMs, and is not fresh 1 ms before resetAfterMs': asModel(
        ...[charge(3), charge(2), advanceTo('retryAfterMs', -1), charge(2)],
        ...[advanceTo('resetAfterMs', -1), charge(0)],
      ),
    }
    return {
      'is fresh again after resetAfterMs': asModel(
        ...[charge(3), advanceTo('resetAfterMs'), charge(0), charge(3)],
      ),
      'allows the same cost after retryAfterMs': asModel(
        ...[[charge(3), charge(2)], advanceTo('retryAfterMs'), charge(2)],
      ),
      'ignores a refund to a key that is fresh again': asModel(
        ...[charge(3), advanceTo('resetAfterMs'), refund(), charge(4), charge(3)],
      ),
      'shows the figures of the policy all the way until it is fresh again': asModel(
        ...[2, 0, 1, 1, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0].flatMap((cost): CaseStep[] => {
          return [charge(cost), { type: 'advance', ms: 30 }]
        }),
      ),
      ...(settableClock && toTheMillisecond),
    }
  })

const ofConsecutive = ({ settableClock }: Capabilities) => {
  const { charge } = operationsOf(consecutive({ limit: 3 }))
  const later: CaseStep = { type: 'advance', ms: settableClock ? TEN_YEARS_MS : 1500 }
  return casesOf('', {
    'time alone never frees a consecutive limit': asModel(charge(3), later, charge()),
  })
}

/** The last refund is of a unit that was taken under a window that the state outlasts. */
const ofChangedWindow = ({ settableClock }: Capabilities) => {
  const [short, long] = (['2s', '1000d'] as const).map((window) =>
    operationsOf(fixedWindow({ limit: 5, window, startsAt: 'first-request' })),
  ) as [ReturnType<typeof operationsOf>, ReturnType<typeof operationsOf>]
  const later: CaseStep = { type: 'advance', ms: settableClock ? 24 * 3600 * 1000 : 4000 }
  return casesOf('', {
    'a state lasts as long as it counts, after a refund of a unit that was taken under a shorter window':
      asModel(short.charge(1), long.charge(1), refund(), later, long.charge(0), long.charge(5)),
  })
}

/**
 * What time does: a state is fresh again after `resetAfterMs`, and the same cost is allowed after
 * `retryAfterMs`.
 */
export function expiryCases(capabilities: Capabilities): StoreCase[] {
  return [...ofEachPolicy(capabilities), ...ofConsecutive(capabilities), ...ofChangedWindow(capabilities)]
}
