import type { Store } from 'headgate'
import { pipeOf } from '../../src/pipe/call.js'
import { type Guard, type GuardOptions, guardOf } from '../../src/pipe/guard.js'
import type { Pipe } from '../../src/pipe/pipe.js'
import { endAt } from '../../src/pipe/store-end.js'

/** A pipe whose only layer is a guard. */
export type GuardedStore = Pipe & Pick<Guard, 'state' | 'probeKeys' | 'close'>

export function guardStore(store: Store, options: GuardOptions): GuardedStore {
  const end = endAt(store)
  const guard = guardOf(store, end, options)
  const { state, probeKeys, close } = guard
  return { ...pipeOf([guard], end), state, probeKeys, close }
}
