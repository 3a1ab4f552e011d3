import type { ChildProcess } from 'node:child_process'
import { readOptions, withDefault } from '../../options/option-table.js'
import type { Unchecked } from '../../stores/shared/validate.js'
import { type Duration, durationUpTo } from '../../util/durations.js'
import { whole, wrongOption } from '../../util/validate.js'
import type { TestCase } from '../test-case.js'
import { withArena } from './arena.js'
import { withFleet } from './fleet.js'
import { SCENARIOS } from './scenarios.js'

/** Options of `storeExactness`. */
export interface ExactnessSetup {
  /**
   * Starts a process that opens the store and calls `serveStore(store)`, such as
   * `() => fork('./store-process.js')`. Called with 0, 1 and so on. All processes of a test share one store.
   * The test ends them.
   */
  startProcess(process: number): ChildProcess
  /**
   * `atomicAcrossKeys`: whether a charge of several keys is decided in one moment. If false, charges that
   * cross may deny each other, and a denied charge may be refunded a little later. No limit may be exceeded.
   */
  readonly capabilities: { readonly atomicAcrossKeys: boolean }
  /** How many processes a test starts. Default 4. */
  readonly processes?: number
  /** How many callers in each process charge at the same time. Default 50. */
  readonly callers?: number
  /** How many charges each caller makes, one after the other. Default 10. */
  readonly charges?: number
  /** How long a test may take, from the start of its processes to the last reply. Default `'20s'`. */
  readonly timeout?: Duration
}

const OPTIONS = {
  rows: {
    startProcess: readStart,
    capabilities: readCapabilities,
    processes: withDefault(4, whole(2, 64, 4)),
    callers: withDefault(50, whole(1, 10_000, 50)),
    charges: withDefault(10, whole(2, 10_000, 10)),
    timeout: withDefault('20s', durationUpTo('1h')),
  },
}

/**
 * Returns tests that several processes with one store admit exactly their limits together, for any test
 * runner. They charge one key, several keys in opposite orders, and batches, also with refunds and bans.
 *
 * Each test starts processes that charge as fast as they can, and compares what they admitted with what is
 * left. Then it ends them. If anything fails in a process, the test fails. Give your runner a time-out that
 * is longer than `timeout`.
 *
 * Throws a `TypeError` for a wrong set-up.
 *
 * @example
 * ```ts
 * import { fork } from 'node:child_process'
 * import { storeExactness } from 'headgate/testing'
 *
 * // store-process.js opens the store, and calls `await serveStore(store)`.
 * const startProcess = () => fork('./store-process.js')
 * const capabilities = { atomicAcrossKeys: true }
 * export const tests = storeExactness({ startProcess, capabilities })
 * // In a test file: for (const { name, run } of tests) test(name, run)
 * ```
 */
export function storeExactness(setup: ExactnessSetup): TestCase[] {
  const options = readOptions('storeExactness', setup, OPTIONS)
  const { processes, callers, charges: each, capabilities } = options
  const { atomicAcrossKeys } = capabilities
  return SCENARIOS.map(({ name, run }) => ({
    name: `${processes} processes with ${callers} callers each ${name}`,
    run: () => withFleet(options, (served) => withArena(served, { callers, each, atomicAcrossKeys }, run)),
  }))
}

function readStart(owner: string, option: string, value: unknown): ExactnessSetup['startProcess'] {
  if (typeof value === 'function') return value as ExactnessSetup['startProcess']
  const fix = "Write startProcess: () => fork('./store-process.js')."
  throw wrongOption(owner, option, 'a function', value, fix)
}

function readCapabilities(owner: string, option: string, value: unknown): ExactnessSetup['capabilities'] {
  const { atomicAcrossKeys }: Unchecked<ExactnessSetup['capabilities']> = value ?? {}
  if (typeof atomicAcrossKeys === 'boolean') return { atomicAcrossKeys }
  const fix = 'Write capabilities: { atomicAcrossKeys: true }.'
  throw wrongOption(owner, option, 'an object that states atomicAcrossKeys', value, fix)
}
