import { policyFromSpec } from '../../../policies/policy-from-spec.js'
import type { BaseSpec } from '../../../policies/spec.js'
import type { Meter } from './meter.js'
import { raisePeak } from './peak.js'

/** No client asks for so much. */
const UNLIMITED = 2 ** 40

type WindowSpec = Extract<BaseSpec, { readonly kind: 'fixed-window' | 'first-request-window' | 'quota' }>

/** Creates the meter of a policy that counts in separate windows: the policy itself, with a limit that denies nothing. */
export function windowMeter({ debt: _debt, ...spec }: WindowSpec): Meter {
  const policy = policyFromSpec({ ...spec, limit: UNLIMITED })
  return {
    width: (policy.width ?? 0) + 1,
    add(client, atMs, units) {
      const { next, remaining } = policy.take(client.state, atMs, units)
      if (next !== undefined) client.state = next
      raisePeak(client, UNLIMITED - remaining)
    },
    refund(client, nowMs, { cost, takenAtMs, resetAtMs }) {
      if (client.state !== undefined)
        client.state = policy.refund(client.state, nowMs, cost, takenAtMs, resetAtMs)
    },
    take(client, nowMs) {
      const [peak = 0] = client.peaks
      const used = UNLIMITED - policy.take(client.state, nowMs, 0).remaining
      if (used === 0) client.state = undefined
      client.peaks = used === 0 ? [] : [used]
      return [peak]
    },
  }
}
