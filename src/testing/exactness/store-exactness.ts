import type { ChildProcess } from 'node:child_process'
import { readOptions, withDefault } from '../../options/option-table.js'
import type { Unchecked } from '../../stores/shared/validate.js'
import { type Duration, durationUpTo } from '../../util/durations.js'
import { whole, wrongOption } from '../../util/validate.js'
import type { TestCase } from '../test-case.js'
import { withArena } from './arena.js'
import { withFleet } from './fleet.js'
import { SCENARIOS } from './scenarios.js'

/** What the exactness tests need to know. */
export interface ExactnessSetup {
  /**
   * Starts a process that opens the store and calls `serveStore(store)`, such as
   * `() => fork('./store-process.js')`. Called with 0, 1 and so on. All processes of a test share one store.
   * The test ends them.
   */
  startProcess(process: number): ChildProcess
  /**
   * Whether a charge of several keys is decided in one moment. Without it, charges that cross may deny each
   * other, and a denied charge may be refunded a little later; never is more than a limit admitted.
   */
  readonly capabilities: { readonly atomicAcrossKeys: boolean }
  /** How many processes a test starts. Default 4. */
  readonly processes?: number
  /** How many callers charge at the same time in each process. Default 50. */
  readonly callers?: number
  /** How many charges each caller makes, one after the other. Default 10. */
  readonly charges?: number
  /** How long a test may take from the start of its processes to the last reply. Default `'20s'`. */
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
 * Returns tests, for any runner, that several processes with one store together admit exactly their limits:
 * of one key, of several in opposite orders, in batches, with refunds, and with bans. Each test starts
 * processes, has them charge as fast as they can, compares what they admitted with what is left, and ends
 * them; whatever fails in a process fails the test. Let a runner's time-out be longer than `timeout`.
 *
 * Throws a `TypeError` for a wrong set-up.
 */
export function storeExactness(setup: ExactnessSetup): TestCase[] {
  const options = readOptions('storeExactness', setup, OPTIONS)
  const { processes, callers, charges: each, capabilities } = options
  const { atomicAcrossKeys } = capabilities
  return SCENARIOS.map(({ name, run }) => ({
    name: `${processes} processes of ${callers} callers ${name}`,
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
