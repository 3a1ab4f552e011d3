import { ban } from '../../policies/ban.js'
import type { Policy } from '../../policies/policy.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { advanceTo, asModel, type CaseStep, operationsOf, refund } from './as-model.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import { casesOf, casesOfEach, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

/** A ban after two denials, of which no test sees the end. */
function withBan(policy: Policy): Policy {
  return ban(policy, { after: 2, within: LONG, for: ['1500d', '3000d'] })
}

const ofEachPolicy = () =>
  casesOfEach(LONG_KINDS, 'a ban from a %s', (policyOf) => {
    const policy = withBan(policyOf(5))
    const { charge, forget } = operationsOf(policy)
    const { charge: uncounted } = operationsOf(policy.uncounted ?? policy)
    const other = operationsOf(policyOf(1))
    const withOther = {
      type: 'charge',
      parts: [...charge().parts, ...other.charge(1, 'other').parts],
    } as const
    const afterOther = {
      type: 'charge',
      parts: [...other.charge(1, 'free').parts, ...charge().parts],
    } as const
    return {
      'begins after its number of denials, and denies what the policy would allow': asModel(
        ...[charge(4), charge(2), charge(3), charge(1), charge(0), charge(0, 'other')],
      ),
      'shows the figures of the policy at the time of the verdict': asModel(
        ...[4, 2, 0, 1, 1, 0, 1, 6, 0].map((cost) => charge(cost)),
      ),
      'counts the denials of one batch, in order': asModel([1, 5, 4, 1, 1].map((cost) => charge(cost))),
      'counts a denied charge of several parts only if its own part denies': asModel(
        ...[other.charge(1, 'other'), withOther, withOther, withOther, charge(5)],
        ...[afterOther, afterOther, charge(), other.charge(0, 'free')],
      ),
      'counts a charge that names a key twice once': asModel(
        ...[charge(6, 'key', 'key'), charge(0), charge(6, 'key', 'key'), charge(0)],
      ),
      'counts no denial by its uncounted policy, which the ban denies as well': asModel(
        ...[uncounted(5), uncounted(), uncounted(), charge(), uncounted(2), charge()],
        ...[uncounted(), uncounted(0), charge()],
      ),
      'outlasts a refund, and ends when the key is forgotten': asModel(
        ...[charge(5), charge(), charge(), refund(), charge(), forget(), charge(0)],
      ),
    }
  })

const ofTime = ({ settableClock }: Capabilities) => {
  const { charge } = operationsOf(
    ban(slidingWindow({ limit: 1, window: '100ms', slices: 1 }), {
      after: 1,
      within: '300ms',
      for: ['400ms', '800ms'],
    }),
  )
  const twice = [charge(), charge()]
  const beforeEnd: CaseStep = settableClock ? advanceTo('retryAfterMs', -1) : charge()
  return casesOf('', {
    'a ban ends at retryAfterMs, the next one is longer, and the escalation resets': asModel(
      ...[twice, advanceTo('retryAfterMs'), twice, beforeEnd, charge()],
      ...[advanceTo('resetAfterMs'), charge(0), twice],
    ),
  })
}

/** Bans: the one policy of which a denial is written. */
export function banCases(capabilities: Capabilities): StoreCase[] {
  return [...ofEachPolicy(), ...ofTime(capabilities)]
}
