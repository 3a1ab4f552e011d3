import cluster from 'node:cluster'
import { join } from 'node:path'
import { consecutive } from 'headgate'
import { clusterStore } from 'headgate/cluster'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { endAt } from '../../support/charging-processes.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { lossesOf, type RecordLosses } from '../../support/tally.js'

const policy = consecutive({ limit: 1_000_000 })

/** Defines the test of workers that are killed, each once so many of its charges were allowed. */
export function describeWorkerLosses(counts: readonly number[], record: RecordLosses): void {
  let program: Bundle
  beforeAll(async () => {
    program = await bundle(join(__dirname, 'charging-process.ts'))
  })
  afterAll(() => program?.remove())

  test('no charge that was allowed is lost, and none is doubled, when workers are killed', async () => {
    const store = clusterStore()
    cluster.setupPrimary({ exec: program.path, args: [], execArgv: [], silent: true })
    const tally = await endAt('kill', () => cluster.fork().process, counts)
    const [left = 0] = await remainingOf(store, policy, ['charged'])
    const losses = lossesOf(tally, policy.limit - left)
    record('workers killed', losses)
    expect(losses).toMatchObject({ lost: 0, doubled: 0 })
    expect(losses.unknown).toBeGreaterThan(0)
  })
}
