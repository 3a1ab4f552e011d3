import type { Policy } from '../../policies/policy.js'
import type { Result } from '../shared/apply-operations.js'
import type { Charge, Refund } from '../store.js'

/** How operations on one key become atomic. */
export interface Strategy {
  /** Decides charges of one key, in order. */
  charge(key: string, charges: readonly Charge[], policy: Policy): Promise<readonly Result[]>
  refund(key: string, refund: Refund): Promise<void>
  forget(key: string, policy: Policy): Promise<void>
}
