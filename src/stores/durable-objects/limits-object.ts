import { policyFromText } from '../builders/policy-text.js'
import type { ObjectContext } from './platform.js'
import { ServingObject } from './serving-object.js'

/**
 * The Durable Object that keeps the limits of a `durableObjectsStore`. Export it from your Worker. In
 * `wrangler.jsonc`, bind it in `durable_objects`, and list it in `new_sqlite_classes`, because it needs
 * SQLite.
 *
 * It decides each request in one synchronous step. A reply leaves once its states are durable, unless the
 * store has a `writeDelay`. An alarm removes expired states, at most once an hour.
 *
 * It contains the code of all policies. `limitsObject` creates a class with only those that you use.
 *
 * @example
 * ```ts
 * import { LimitsObject } from 'headgate/durable-objects'
 *
 * export { LimitsObject }
 * ```
 */
export class LimitsObject extends ServingObject {
  // A class with RPC methods would have to extend `DurableObject` from `cloudflare:workers`, which only
  // Workers can import. A call of `fetch` costs the same.
  constructor(context: ObjectContext, _env?: unknown) {
    super(context, policyFromText)
  }
}
