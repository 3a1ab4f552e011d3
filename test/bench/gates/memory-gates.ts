import { startChild } from '../harness/child.js'
import { roundsInTurn } from '../harness/rounds.js'
import type { KeyedName } from '../memory-key-child.js'
import { isShort } from '../workloads.js'
import type { Gate, Sample } from './gate.js'

const PROCESSES = isShort ? 5 : 15
const HEAP_MB = 500

const CONTENDERS = { headgate: inProcess('headgate'), 'express-rate-limit': inProcess('express-rate-limit') }

/** The gates in memory, by name. */
export const MEMORY_GATES = {
  'gate-memory-key': {
    title: 'Memory: a key function, 100,000 keys in fresh strings, one caller',
    goals: [
      { of: 'headgate', peers: ['express-rate-limit'], figure: 'decisions/s', atLeast: 1 },
      { of: 'headgate', peers: ['express-rate-limit'], figure: 'CPU ns', atMost: 1 }, // others may use the machine
    ],
    measure: () => roundsInTurn(CONTENDERS, PROCESSES),
  } satisfies Gate<KeyedName>,
} as const

/** Returns a function that measures a contender in a new process, which compiles it anew. */
function inProcess(name: KeyedName): () => Promise<Sample> {
  return async () => {
    const child = startChild(new URL('../memory-key-child.ts', import.meta.url), [name], HEAP_MB)
    try {
      return await child.ask<Sample>({})
    } finally {
      await child.end()
    }
  }
}
